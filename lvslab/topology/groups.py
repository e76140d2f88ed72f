"""Node names in the plural: ``rs[1-4]`` makes or names four nodes, ``rs*`` names all that match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from lvslab.topology.faults import UnusableError
from lvslab.topology.limits import GROUP_MEMBERS
from lvslab.topology.wording import did_you_mean, one_of

_GROUP = re.compile(r"(?P<before>[^\[\]*]*)\[(?P<first>[0-9]{1,6})-(?P<last>[0-9]{1,6})\](?P<after>[^\[\]*]*)")


def expand(key: str) -> tuple[str, ...]:
    """Return the names a key of `nodes:` stands for: itself, or ``rs1``, ``rs2``, … for ``rs[1-N]``.

    Raises :class:`UnusableError` for a malformed, reversed or oversized group.
    """
    group = _GROUP.fullmatch(key)
    if group is None:
        if set("[]*") & set(key):
            raise UnusableError("malformed group", expected="a name, or a group such as rs[1-4]", found=repr(key))
        return (key,)
    first, last = int(group["first"]), int(group["last"])
    if first > last:
        raise UnusableError(
            "group without members",
            expected="a first number not above the last, as in rs[1-4]",
            found=repr(key),
            next_step="check the parameter behind it",
        )
    if last - first + 1 > GROUP_MEMBERS:
        raise UnusableError("group too large", expected=f"at most {GROUP_MEMBERS} nodes", found=str(last - first + 1))
    return tuple(f"{group['before']}{number}{group['after']}" for number in range(first, last + 1))


def select(pattern: str, names: Sequence[str], kind: str = "node") -> tuple[str, ...]:
    """Return the names that a pattern means, in the order of `names`.

    Raises :class:`UnusableError` when it means none, or one that does not exist; `kind` says what they are.
    """
    if "*" in pattern:
        chosen = tuple(name for name in names if fnmatchcase(name, pattern.replace("[", "[[]")))
        if not chosen:
            raise UnusableError(f"matches no {kind}", expected=one_of(names), found=repr(pattern))
        return chosen
    chosen = expand(pattern)
    require_known(chosen, names, kind)
    return chosen


def require_known(chosen: Iterable[str], names: Sequence[str], kind: str) -> None:
    """Raise :class:`UnusableError` at the first chosen name that does not exist."""
    for name in chosen:
        if name not in names:
            raise UnusableError(
                f"unknown {kind}", expected=one_of(names), found=repr(name), next_step=did_you_mean(name, names)
            )
