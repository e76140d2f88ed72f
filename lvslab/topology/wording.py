"""Words that errors and comments share: lists, values as found, the nearest known name, text kept to its line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST_VALUE = 60
_LONGEST_LIST = 20


def one_of(known: Iterable[str]) -> str:
    """Return ``one of a, b, c``, cut short when there are very many."""
    names = list(known)
    more = len(names) - _LONGEST_LIST
    if more > 1:
        names = [*names[:_LONGEST_LIST], f"and {more} more"]
    return "one of " + ", ".join(names) if names else "none: there are none"


def did_you_mean(found: str, known: Iterable[str]) -> str | None:
    """Return a next step naming the known word nearest to what was found, or None when nothing is near."""
    near = get_close_matches(found, [str(name) for name in known], n=1)
    return f"did you mean {near[0]!r}?" if near else None


def one_line(text: str, without: str = "") -> str:
    """Return text that cannot leave the comment it is put in: ``?`` for what is unprintable, or one of `without`."""
    return "".join(each if each.isprintable() and each not in without else "?" for each in text)


def shown(value: object) -> str:
    """Return a value as an error names it: kinds of containers by their kind, text quoted and cut short."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
