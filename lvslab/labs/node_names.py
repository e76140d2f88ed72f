"""Names of nodes in the arguments of checks and observations: what the lab's topology lacks is a fault of lab.yaml.

The nodes there are come as the context of validation (:class:`Known`); without it every name is taken.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from lvslab.topology.document import texts_of
from lvslab.topology.faults import UnusableError
from lvslab.topology.groups import require_known, select
from lvslab.topology.shape import unusable


@dataclass(frozen=True, slots=True)
class Known:
    """The context of validation: the topology's nodes, in its order."""

    nodes: tuple[str, ...]


def _named_by(require: Callable[[str, tuple[str, ...]], object]) -> AfterValidator:
    """Return a validator that refuses what `require` raises UnusableError for, of a text and the nodes there are."""

    def check(text: str, info: ValidationInfo) -> str:
        if isinstance(info.context, Known):
            try:
                require(text, info.context.nodes)
            except UnusableError as problem:
                raise unusable(problem) from problem
        return text

    return AfterValidator(check)


def _one(text: str, nodes: tuple[str, ...]) -> None:
    require_known((text,), nodes, "node")


def _each(text: str, nodes: tuple[str, ...]) -> None:
    require_known(text.split(), nodes, "node")


def _one_or_failure(text: str, nodes: tuple[str, ...]) -> None:
    if text not in errno.errorcode.values():
        _one(text, nodes)


NodeName = Annotated[str, _named_by(_one)]
"""One node."""
NodePattern = Annotated[str, _named_by(select)]
"""A node, or several: ``rs*``."""
NodeNames = Annotated[tuple[NodeName, ...], BeforeValidator(texts_of)]
"""One node or a list of them."""
NodeOrder = Annotated[tuple[Annotated[str, _named_by(_each)], ...], BeforeValidator(texts_of)]
"""A list of nodes, or one text of them with spaces between, as a shuffled variant is."""
NodeOrFailure = Annotated[str, _named_by(_one_or_failure)]
"""The node that answers a call, or how the call failed: the name of an errno (errno(3))."""
Director = Annotated[NodeName, Field(validate_default=True)]
"""The node whose table is looked at; the default has to be there, too."""
