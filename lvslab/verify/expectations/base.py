"""What all expectations share: their shape, and the making of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lvslab.topology.model import VirtualService
from lvslab.verify.causes.cause import UNKNOWN, Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.result import Result, Verdict
from lvslab.verify.served import Served

ServiceExpectation = Callable[[Evidence, VirtualService, tuple[Served, ...]], Result]
"""Judges one expectation of one virtual service from all of its connections."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An expectation's name and what it expects, in words."""

    name: str
    expected: str

    def passed(self, seen: str, frames: Iterable[int] = (), where: str = "") -> Result:
        return Result(self.name, Verdict.PASS, self.expected, seen, where, tuple(frames))

    def failed(self, seen: str, *, where: str, frames: Iterable[int] = (), cause: Cause = UNKNOWN) -> Result:
        return Result(self.name, Verdict.FAIL, self.expected, seen, where, tuple(frames), cause.text, cause.next)

    def skipped(self, reason: str) -> Result:
        return Result(self.name, Verdict.SKIP, self.expected, "", cause=reason)

    def error(self, seen: str, *, reason: str, next_step: str, where: str = "") -> Result:
        return Result(self.name, Verdict.ERROR, self.expected, seen, where, cause=reason, next=next_step)


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 packet``, ``2 packets``."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def counts(names: Iterable[str], most: int = 6) -> str:
    """Return ``rs1 3, rs2 2``: how often each occurs, the most frequent first."""
    found = Counter(names).most_common()
    shown = ", ".join(f"{name} {number}" for name, number in found[:most])
    return shown if len(found) <= most else f"{shown}, … ({len(found)} in all)"
