"""Arguments that name nodes are known by their type: a name that the topology lacks is refused, with its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from lvslab.labs.fresh import Fresh
from lvslab.labs.lint import lint_lab
from lvslab.labs.node_names import Director, Known, NodeName, NodeNames, NodeOrder, NodeOrFailure, NodePattern
from lvslab.labs.registry import shipped_registry
from lvslab.topology.document import Entry

KNOWN = Known(("client", "lb", "rs1", "rs2"))
ABOUT_NODES = {"node", "nodes", "client", "clients", "server", "servers", "director", "weights", "edit"}
"""Names of arguments that can be about nothing else."""
CASES: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "one": (NodeName, ["rs1"], ["rs9", "rs*", "rs1 rs2", ""]),
    "pattern": (NodePattern, ["rs1", "rs*", "rs[1-2]", "*"], ["rs9", "ws*", "rs[1-3]"]),
    "list": (NodeNames, ["rs1", ["rs1", "client"]], ["rs9", ["rs1", "rs9"], "rs1 rs2"]),
    "order": (NodeOrder, ["rs2 rs1", ["rs2", "rs1"]], ["rs2 rs9", ["rs2", "rs9"]]),
    "or failure": (NodeOrFailure, ["rs1", "ECONNREFUSED"], ["rs9", "ECONREFUSED"]),
    "keys": (dict[NodeName, int], [{"rs1": 1}], [{"rs1": 1, "rs9": 1}]),
}


def accepts(kind: Any, value: object, known: Known | None = KNOWN) -> bool:
    try:
        TypeAdapter(kind).validate_python(value, context=known)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("case", CASES)
def test_what_the_topology_has_is_taken_and_nothing_else(case: str) -> None:
    kind, right, wrong = CASES[case]
    assert [value for value in right if not accepts(kind, value)] == []
    assert [value for value in wrong if accepts(kind, value)] == []


def test_without_a_topology_any_name_is_taken() -> None:
    assert accepts(NodeName, "rs9", None)


def test_a_default_has_to_be_there_too() -> None:
    class Looked(Entry):
        director: Director = "director"

    assert Looked.model_validate({"director": "lb"}, context=KNOWN)
    with pytest.raises(ValidationError):
        Looked.model_validate({}, context=KNOWN)


def test_every_shipped_argument_about_nodes_is_declared_as_such() -> None:
    registry = shipped_registry()
    models: list[type[Entry]] = [kind.arguments for kind in registry.checks.values()]
    models += [Fresh, *(kind.arguments for kind in registry.observations.values())]
    about = [
        (f"{model.__name__}.{name}", Annotated[field.annotation, *field.metadata, None])
        for model in models
        for name, field in model.model_fields.items()
        if name in ABOUT_NODES
    ]
    assert len(about) > 20
    undeclared = [name for name, kind in about if accepts(kind, "rs9") or accepts(kind, {"rs9": 1})]
    assert undeclared == []


def test_the_line_is_told(folder: Path) -> None:
    path = folder / "lab.yaml"
    path.write_text(path.read_text().replace("{rs1: 1, rs2: 1}", "{rs1: 1, rs9: 1}"))
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if "rs9" in text)
    (fault,) = lint_lab(folder)
    assert fault.where == f"{path}:{line}"
    assert re.match(r"steps\[1\]\.checks\[0\]\.servers\.servers\.rs9: unknown node", fault.what)
