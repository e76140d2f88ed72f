"""From plain data to a :class:`~lvslab.topology.document.Document`, with every fault of shape in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from lvslab.topology.document import (
    OTHER_KIND,
    Document,
    Entry,
    NameEntry,
    NetworkEntry,
    NodeEntry,
    RouteEntry,
    ServerEntry,
    ServiceEntry,
    TitleEntry,
    TrafficEntry,
)
from lvslab.topology.faults import Fault, KeyPath, Places, UnusableError
from lvslab.topology.wording import did_you_mean, one_of, shown

Shape = TypeVar("Shape", bound=Entry)
_ANY = "*"
_ENTRIES: dict[KeyPath, type[Entry]] = {
    (): Document,
    ("title",): TitleEntry,
    ("traffic",): TrafficEntry,
    ("networks", _ANY): NetworkEntry,
    ("nodes", _ANY): NodeEntry,
    ("nodes", _ANY, "routes", _ANY): RouteEntry,
    ("services", _ANY): ServiceEntry,
    ("services", _ANY, "servers", _ANY): ServerEntry,
    ("dns", _ANY): NameEntry,
}
"""Which model describes the mapping at a path."""

_UNUSABLE_KIND = "unusable"
_OF_A_KEY = "[key]"
"""What pydantic adds to the path where it is a mapping's key that is wrong."""
_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
}
"""What pydantic's type errors expected."""


def document_of(data: object, places: Places) -> Document:
    """Check the shape of a rendered topology; raises :class:`~lvslab.errors.BadInputs` with all its faults."""
    return shaped(Document, data, places, _ENTRIES)


def shaped(model: type[Shape], data: object, places: Places, entries: Mapping[KeyPath, type[Entry]]) -> Shape:
    """Return data as a model; `entries` says which model describes the mapping at each path.

    Raises :class:`~lvslab.errors.BadInputs` with all faults.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        places.raise_any(shape_faults(error, entries))
        raise


def unusable(problem: UnusableError) -> PydanticCustomError:
    """Return the error by which a validator refuses a value, to become the fault that `problem` says."""
    return PydanticCustomError(_UNUSABLE_KIND, "cannot be used", {"problem": problem})


def shape_faults(error: ValidationError, entries: Mapping[KeyPath, type[Entry]], at: KeyPath = ()) -> Iterator[Fault]:
    """Yield the faults in plain words; `at` is where the data stands in its file."""
    for one in error.errors(include_url=False):
        loc = one["loc"][:-1] if one["loc"][-1:] == (_OF_A_KEY,) else one["loc"]
        yield _fault(one, (*at, *loc), _Entries(entries, at))


@dataclass(frozen=True, slots=True)
class _Entries:
    by_path: Mapping[KeyPath, type[Entry]]
    at: KeyPath

    def keys(self, path: KeyPath) -> list[str]:
        """Return the keys that the mapping at `path` may have, as they are written."""
        fields = _entry_at(path[len(self.at) :], self.by_path).model_fields
        return [field.alias or name for name, field in fields.items()]


def _fault(error: ErrorDetails, path: KeyPath, entries: _Entries) -> Fault:
    context: dict[str, Any] = error.get("ctx", {})
    found = shown(error["input"])
    match error["type"]:
        case "missing":
            return Fault(path, "required key is missing", next_step=f"add {path[-1]!r}")
        case "extra_forbidden":
            known = entries.keys(path[:-1])
            return Fault(path, "unknown key", one_of(known), repr(path[-1]), did_you_mean(str(path[-1]), known))
        case "enum" | "literal_error":
            allowed = _allowed(context)
            return Fault(path, "unknown value", one_of(allowed), found, did_you_mean(str(error["input"]), allowed))
        case kind if kind == _UNUSABLE_KIND:
            problem: UnusableError = context["problem"]
            return problem.at(path)
        case kind if kind == OTHER_KIND:
            return Fault(path, "wrong kind of value", str(context["expected"]), found)
        case kind:
            return Fault(path, "wrong kind of value", _KINDS.get(kind, error["msg"]), found, _quoting(kind, error))


def _allowed(context: dict[str, Any]) -> list[str]:
    """Return the values of an enumeration, which pydantic lists in words: ``'nat', 'tun' or 'dr'``."""
    return re.findall(r"'([^']*)'", str(context["expected"]))


def _quoting(kind: str, error: ErrorDetails) -> str | None:
    value = error["input"]
    return "quote it" if kind == "string_type" and isinstance(value, int | float) else None


def _entry_at(path: KeyPath, entries: Mapping[KeyPath, type[Entry]]) -> type[Entry]:
    for pattern, entry in entries.items():
        if len(pattern) == len(path) and all(part in (_ANY, key) for part, key in zip(pattern, path, strict=True)):
            return entry
    raise KeyError(path)
