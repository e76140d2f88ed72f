"""A plan's shell text in as few processes as `ip` allows: `ip -batch`, one for each namespace (ip(8)). Pure.

`ip -n NAME` enters one namespace for a whole batch, so that batches go no further. What `ip` cannot say stays a command
of its own, except that sysctls of one namespace become one call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import NamedTuple

from lvslab.plan.shell import shell_lines
from lvslab.plan.steps import MakeLink, MakeNamespace, Plan, Step

_IN_NAMESPACE = re.compile(r"ip -n (?P<namespace>\S+) (?P<words>.*)")
_SYSCTL = re.compile(r"ip netns exec (?P<namespace>\S+) sysctl -q -w (?P<words>.*)")
_EXEC = re.compile(r"ip netns exec (?P<namespace>\S+) .*")
_IP = re.compile(r"ip (?P<words>netns (?:add|delete) .*)")


class _Kind(NamedTuple):
    """Lines of one kind and one namespace that follow one another become one command."""

    program: str
    namespace: str


@dataclass(frozen=True, slots=True)
class _Line:
    kind: _Kind
    words: str


def batch_script(plan: Plan) -> str:
    """Return a POSIX shell script that builds what `lvslab.plan.shell.shell_script` builds."""
    return _script(chain.from_iterable(_by_namespace(map(_line, _shell(steps))) for steps in _stages(plan)))


def removal_script(plan: Plan) -> str:
    """Return a script that removes the plan's namespaces, and what is in them."""
    names = [step.node for step in plan.steps if isinstance(step, MakeNamespace)]
    return _script(_line(f"ip netns delete {name}") for name in names)


def _stages(plan: Plan) -> tuple[Sequence[Step], Sequence[Step]]:
    """Split after the last cable: before, switches come first; after it, no namespace depends on another."""
    cables = [position for position, step in enumerate(plan.steps) if isinstance(step, MakeLink)]
    end = cables[-1] + 1 if cables else 0
    return plan.steps[:end], plan.steps[end:]


def _shell(steps: Iterable[Step]) -> Iterator[str]:
    return (line for step in steps for line in shell_lines(step) if not line.startswith("#"))


def _line(text: str) -> _Line:
    if found := _IP.fullmatch(text):
        return _Line(_Kind("ip", ""), found["words"])
    if found := _IN_NAMESPACE.fullmatch(text):
        return _Line(_Kind("ip", found["namespace"]), found["words"])
    if found := _SYSCTL.fullmatch(text):
        return _Line(_Kind("sysctl", found["namespace"]), found["words"])
    found = _EXEC.fullmatch(text)
    return _Line(_Kind("", found["namespace"] if found else ""), text)


def _by_namespace(lines: Iterable[_Line]) -> Iterator[_Line]:
    """Yield the lines of each namespace together, in their order, namespaces as they first appear."""
    groups: dict[str, list[_Line]] = {}
    for line in lines:
        groups.setdefault(line.kind.namespace, []).append(line)
    for group in groups.values():
        yield from group


def _script(lines: Iterable[_Line]) -> str:
    runs = groupby(lines, key=lambda line: line.kind)
    return "set -e\n" + "".join(_command(kind, [line.words for line in group]) for kind, group in runs)


def _command(kind: _Kind, words: Sequence[str]) -> str:
    if kind.program == "ip":
        namespace = f"-n {kind.namespace} " if kind.namespace else ""
        return f"ip {namespace}-batch - <<'END'\n" + "".join(f"{line}\n" for line in words) + "END\n"
    if kind.program == "sysctl":
        return f"ip netns exec {kind.namespace} sysctl -q -w {' '.join(words)}\n"
    return "".join(f"{line}\n" for line in words)
