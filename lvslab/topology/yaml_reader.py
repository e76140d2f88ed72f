"""YAML 1.2 to plain values and the line of every key, without the parts of YAML that a topology has no use for.

Reading goes event by event, so neither deep nesting nor aliases can exhaust anything. Refused: anchors and
aliases, tags, duplicate keys, keys that are not text, several documents, and YAML 1.1 (where `on` is a boolean).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)
from ruamel.yaml.nodes import ScalarNode

from lvslab.errors import BadInput
from lvslab.topology.faults import KeyPath
from lvslab.topology.wording import shown

DEPTH_LIMIT = 12
"""Levels of nesting; a topology has six."""

_PARSER_FAULTS = (YAMLError, ValueError, LookupError, AttributeError, TypeError, AssertionError)
"""What ruamel.yaml's pure parser raises on malformed text: not only its own error class."""


@dataclass(frozen=True, slots=True)
class Read:
    data: object
    lines: dict[KeyPath, int]


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not come yet."""

    value: dict[str, object] | list[object]
    path: KeyPath
    key: str | None = None


@dataclass(slots=True)
class _Reader:
    source: str
    source_line: Callable[[int], int]
    resolver: Any
    """ruamel.yaml's resolver of plain scalars to tags, untyped there."""
    stack: list[_Open] = field(default_factory=list)
    lines: dict[KeyPath, int] = field(default_factory=dict)
    data: object = None

    def fault(self, event: Event, what: str, **parts: str) -> BadInput:
        return BadInput(what, where=f"{self.source}:{self.line(event)}", **parts)

    def line(self, event: Event) -> int:
        return self.source_line(event.start_mark.line + 1)

    def take(self, event: Event) -> None:
        if isinstance(event, DocumentStartEvent):
            self.refuse_other_yaml(event)
        elif isinstance(event, NodeEvent):
            self.refuse_references(event)
            self.take_node(event)
        elif isinstance(event, CollectionEndEvent):
            self.stack.pop()

    def refuse_other_yaml(self, event: DocumentStartEvent) -> None:
        if self.lines:
            raise self.fault(event, "a second YAML document", expected="one document", next_step="remove the '---'")
        if event.version not in (None, (1, 2)):
            raise self.fault(event, "another version of YAML", expected="YAML 1.2", next_step="remove the %YAML line")
        self.lines[()] = self.line(event)

    def refuse_references(self, event: NodeEvent) -> None:
        if isinstance(event, AliasEvent) or event.anchor is not None:
            raise self.fault(
                event,
                "YAML anchors and aliases (& and *) are not part of the format",
                next_step="use a parameter or a Jinja loop; quote text that begins with & or *",
            )
        if isinstance(event, ScalarEvent | CollectionStartEvent) and event.tag is not None:
            raise self.fault(event, "YAML tags (!) are not part of the format", found=shown(str(event.tag)))

    def take_node(self, event: NodeEvent) -> None:
        if self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None:
            self.take_key(event, self.stack[-1])
            return
        value: object = None
        if isinstance(event, CollectionStartEvent):
            value = {} if isinstance(event, MappingStartEvent) else []
        elif isinstance(event, ScalarEvent):
            value = self.scalar(event)
        path = self.place(event, value)
        if isinstance(value, dict | list):
            if len(self.stack) == DEPTH_LIMIT:
                raise self.fault(event, "nested too deeply", expected=f"at most {DEPTH_LIMIT} levels")
            self.stack.append(_Open(value, path))

    def take_key(self, event: NodeEvent, mapping: _Open) -> None:
        key = self.scalar(event) if isinstance(event, ScalarEvent) else {}
        if not isinstance(key, str):
            raise self.fault(event, "a key must be text", found=shown(key), next_step="quote it")
        if key in mapping.value:
            first = self.lines[*mapping.path, key]
            raise self.fault(event, f"duplicate key {key!r}", found=f"the same key on line {first}")
        mapping.key = key
        self.lines[*mapping.path, key] = self.line(event)

    def place(self, event: NodeEvent, value: object) -> KeyPath:
        """Put a value where it belongs and return its path."""
        if not self.stack:
            self.data = value
            return ()
        parent = self.stack[-1]
        if isinstance(parent.value, list):
            path: KeyPath = (*parent.path, len(parent.value))
            self.lines[path] = self.line(event)
            parent.value.append(value)
            return path
        key = str(parent.key)
        parent.value[key] = value
        parent.key = None
        return (*parent.path, key)

    def scalar(self, event: ScalarEvent) -> object:
        tag = str(self.resolver.resolve(ScalarNode, event.value, event.implicit)).rpartition(":")[2]
        try:
            return _plain_value(tag, event.value)
        except ValueError as error:
            raise self.fault(event, "not a usable number", found=shown(event.value), next_step="quote text") from error


def _plain_value(tag: str, text: str) -> object:
    match tag:
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            digits = text.replace("_", "")
            return int(digits, 0) if digits.lstrip("+-")[:2].lower() in ("0x", "0o", "0b") else int(digits)
        case "float":
            number = float(text.replace("_", ""))
            if not math.isfinite(number):
                raise ValueError(text)
            return number
    return text


def _same_line(line: int) -> int:
    return line


def read_yaml(text: str, source: str, source_line: Callable[[int], int] = _same_line) -> Read:
    """Read one document; `source_line` turns a line of `text` into the line to name in errors.

    Raises :class:`~lvslab.errors.BadInput` at the first thing that is not YAML, or is refused (see the module).
    """
    yaml = YAML(typ="safe", pure=True)
    reader = _Reader(source, source_line, yaml.resolver)
    try:
        _read_all(yaml.parse(text), reader)
    except MarkedYAMLError as error:
        raise _not_yaml(f"{source}:{source_line(_line(error))}", _problem(error, source_line)) from error
    except _PARSER_FAULTS as error:
        raise _not_yaml(source, str(error)) from error
    return Read(reader.data, reader.lines)


def _read_all(events: Iterable[Event], reader: _Reader) -> None:
    for event in events:
        reader.take(event)


def _line(error: MarkedYAMLError) -> int:
    """Return the line to look at: where a quotation began that nothing ends, else where the parser stopped."""
    unfinished = error.context == "while scanning a quoted scalar"
    mark = error.context_mark if unfinished else error.problem_mark
    return mark.line + 1 if mark else 1


def _problem(error: MarkedYAMLError, source_line: Callable[[int], int]) -> str:
    """Return what the parser says, and where the unfinished thing began."""
    problem = error.problem or "cannot be read"
    if error.context is None or error.context_mark is None:
        return problem
    return f"{problem} {error.context} from line {source_line(error.context_mark.line + 1)}"


def _not_yaml(where: str, problem: str) -> BadInput:
    return BadInput(f"not YAML: {problem}", where=where)
