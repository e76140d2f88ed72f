"""Parameters of a topology: their defaults in the file, and the values given instead."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from lvslab.errors import BadInput
from lvslab.topology.faults import Fault, Places
from lvslab.topology.limits import GROUP_MEMBERS
from lvslab.topology.wording import did_you_mean, one_of, shown
from lvslab.topology.yaml_reader import read_yaml

Parameter = str | int | float | bool

_BLOCK = re.compile(r"^params:(?:[ \t].*)?(?:\n|\Z)(?:(?:[ \t].*|#.*|)\n)*(?:[ \t].*)?", re.MULTILINE)
"""The top-level key at the left margin, and the indented, empty and comment lines after it."""
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_GROUP_BOUND = re.compile(r"\[(?P<first>[0-9]{1,6})-\{\{ *(?P<name>[a-z_][a-z0-9_]*) *\}\}\]")
_PLAIN = "'params:' at the left margin, followed by plain YAML without Jinja2"
_KINDS: dict[type, str] = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def read_defaults(text: str, source: str) -> dict[str, Parameter]:
    """Return the defaults in the `params:` block of a template, which is read before rendering.

    Raises :class:`~lvslab.errors.BadInput` when the block is not plain YAML, or a default is not a single value.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    block = _BLOCK.search(text)
    if block is None:
        return {}
    lines_before = "\n" * text.count("\n", 0, block.start())
    try:
        read = read_yaml(lines_before + block.group(), source)
    except BadInput as error:
        raise BadInput(f"params: {error.what}", where=error.where, expected=_PLAIN, found=error.found) from error
    params = read.data.get("params") if isinstance(read.data, dict) else None
    places = Places(source, read.lines)
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise places.bad_input(Fault(("params",), "wrong kind of value", "a mapping", shown(params)))
    places.raise_any(fault for name, value in params.items() for fault in _default_faults(name, value))
    return params


def _default_faults(name: str, value: object) -> list[Fault]:
    path = ("params", name)
    faults = []
    if not _NAME.fullmatch(name):
        faults.append(Fault(path, "unusable parameter name", "small letters, digits and _", repr(name)))
    if not isinstance(value, str | int | float):
        faults.append(Fault(path, "unusable default", "text, a number, true or false", shown(value)))
    return faults


def override(defaults: Mapping[str, Parameter], given: Mapping[str, object], topology: str) -> dict[str, Parameter]:
    """Return the defaults with the given values in their place; text is read as the default's kind of value.

    Raises :class:`~lvslab.errors.BadInput` for a parameter `topology` does not have, or a value of another kind.
    """
    return {**defaults, **{name: _value(name, value, defaults, topology) for name, value in given.items()}}


def _value(name: str, value: object, defaults: Mapping[str, Parameter], topology: str) -> Parameter:
    if name not in defaults:
        raise BadInput(
            f"{topology} has no parameter {name!r}",
            where=f"--set {name}",
            expected=one_of(defaults),
            next_step=did_you_mean(name, defaults),
        )
    kind = type(defaults[name])
    where = f"--set {name}={value}"
    meant = read_yaml(value, where).data if isinstance(value, str) and kind is not str else value
    if kind is float and type(meant) is int:
        meant = float(meant)
    if type(meant) is kind and (not isinstance(meant, float) or math.isfinite(meant)):
        return meant
    raise BadInput(
        f"wrong kind of value for parameter {name!r}",
        where=where,
        expected=f"{_KINDS[kind]}, as the default {shown(defaults[name])} is",
        found=shown(value),
    )


def check_group_sizes(text: str, given: Mapping[str, object], values: Mapping[str, Parameter]) -> None:
    """Refuse a given value that makes a group of nodes, ``rs[1-{{ NAME }}]``, empty or too large.

    Raises :class:`~lvslab.errors.BadInput` in the words of the parameter: whoever set it need not know the file.
    """
    for bound in _GROUP_BOUND.finditer(text):
        name, first = bound["name"], int(bound["first"])
        last = values.get(name)
        if name in given and isinstance(last, int) and not first <= last < first + GROUP_MEMBERS:
            raise BadInput(
                f"parameter {name!r} out of range",
                where=f"--set {name}={last}",
                expected=f"{first} to {first + GROUP_MEMBERS - 1}",
                found=str(last),
            )


def check_unchanged(defaults: Mapping[str, Parameter], data: object, places: Places) -> None:
    """Refuse a `params:` block that says something else in the rendered `data`: it would have been read wrongly."""
    rendered = data.get("params") if isinstance(data, dict) else None
    changed = [name for name, value in (rendered or {}).items() if defaults.get(name) != value]
    if changed:
        raise places.bad_input(
            Fault(
                ("params", changed[0]),
                "parameters depend on the template",
                _PLAIN,
            )
        )
