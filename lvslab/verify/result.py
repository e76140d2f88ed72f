"""Results of judging: one per expectation, gathered per topology.

``pass``, ``fail``, ``skip`` and ``error`` stay distinct everywhere: an error is ours or the environment's
and never reads as a fault of the cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"
    ERROR = "error"

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """Return the worst of many: error over fail over pass over skip; nothing at all is a skip."""
        found = set(verdicts)
        for verdict in (cls.ERROR, cls.FAIL, cls.PASS):
            if verdict in found:
                return verdict
        return cls.SKIP


@dataclass(frozen=True, slots=True)
class Result:
    """One expectation, judged."""

    name: str
    """The expectation: `dr-request`, `arp-owner`, `scheduler`, …"""
    verdict: Verdict
    expected: str
    seen: str
    where: str = ""
    """Node, or node:interface, where the decisive thing was (or was not) seen."""
    frames: tuple[int, ...] = ()
    """Numbers of the frames that are the evidence."""
    cause: str = ""
    """The likely cause of a failure, or the reason for a skip or an error."""
    next: str = ""
    """What to do about it: a command where there is one."""


@dataclass(frozen=True, slots=True)
class TopologyResult:
    """All expectations of one topology on one kernel.

    Times are in seconds, by phase: boot, build, traffic, capture, join, judge, teardown.
    """

    topology: str
    kernel: str
    """Where it ran: `native` or `uml`."""
    kernel_release: str
    backend: str
    expectations: tuple[Result, ...]
    params: dict[str, object] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    frames: int = 0
    """Number of frames captured."""
    virtual_time: bool = False
    """Whether the kernel's time was not the wall clock's."""

    @property
    def verdict(self) -> Verdict:
        return Verdict.of(result.verdict for result in self.expectations)

    @property
    def where(self) -> str:
        """Return the kernel as reports name it: `uml 6.12.117`, or `uml 6.12.117, virtual time`."""
        return f"{self.kernel} {self.kernel_release}".rstrip() + ", virtual time" * self.virtual_time


def titles(results: Sequence[TopologyResult]) -> list[str]:
    """Return what to call each result: its topology, and its kernel where others of that topology ran on others."""
    kernels = {(result.topology, result.where) for result in results}
    several = {name for name, count in Counter(name for name, _ in kernels).items() if count > 1}
    return [
        f"{result.topology} on {result.where}" if result.topology in several else result.topology for result in results
    ]
