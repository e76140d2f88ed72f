"""Loading a topology: read, fill in parameters, check shape, resolve, check sense."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lvslab.errors import BadInput, BadInputs
from lvslab.topology.embedding import as_text
from lvslab.topology.faults import Places
from lvslab.topology.model import Topology
from lvslab.topology.parameters import check_group_sizes, check_unchanged, override, read_defaults
from lvslab.topology.rendering import render
from lvslab.topology.resolve import remove_as_asked, remove_in_document, resolve
from lvslab.topology.shape import document_of
from lvslab.topology.shipped import find
from lvslab.topology.source import check_text, read_source
from lvslab.topology.validation import validate_at
from lvslab.topology.yaml_reader import read_yaml


def load_topology(
    name_or_path: str | Path, *, params: Mapping[str, object] | None = None, without: Sequence[str] = ()
) -> Topology:
    """Load a shipped topology by name, or any topology file by path.

    `params` replace the file's defaults; text is read as the default's kind of value. `without` names implied
    settings to take away, each ``SETTING`` or ``SETTING@NODES``. Raises :class:`~lvslab.errors.BadInput`.
    """
    path = find(name_or_path)
    return load_text(read_source(path), str(path), params=params, without=without)


def load_text(
    text: str, source: str, *, params: Mapping[str, object] | None = None, without: Sequence[str] = ()
) -> Topology:
    """Load a topology from the text of a file; `source` is what errors call it. See :func:`load_topology`."""
    check_text(text, source)
    defaults = read_defaults(text, source)
    values = override(defaults, params or {}, source)
    check_group_sizes(text, params or {}, values)
    rendered = render(text, source, values)
    read = read_yaml(rendered.text, source, rendered.source_line)
    places = Places(source, read.lines)
    check_unchanged(defaults, read.data, places)
    document = document_of(read.data, places)
    implied, places = resolve(document, places)
    validate_at(implied, places)
    topology = remove_as_asked(remove_in_document(implied, document, places), implied, without)
    description = as_text(document.model_dump(mode="json", exclude_unset=True), values, without)
    return replace(topology, params=values, rendered=description)


def lint(paths: Iterable[str | Path]) -> tuple[BadInput, ...]:
    """Return every fault of every file or shipped topology, in order; none when all can be loaded."""
    faults: list[BadInput] = []
    for path in paths:
        try:
            load_topology(path)
        except BadInputs as several:
            faults.extend(several.faults)
        except BadInput as one:
            faults.append(one)
    return tuple(faults)
