"""Round robin: each server in turn, those of weight 0 passed over.

The papers number the servers S0 to Sn-1 and keep the index of the last choice, n-1 at the start; the next server of
weight above 0 takes the connection, and after a full turn without one it is refused.

The kernel (net/netfilter/ipvs/ip_vs_rr.c) keeps a pointer into the service's list of destinations instead. It differs
in this: new destinations go in front of the list, so the newest comes first at the start and later ones wait for the
next turn; overloaded servers are passed over too; deleting the server pointed at moves the pointer one back; editing a
weight moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Final

from lvslab.ipvs.schedulers.model import (
    NOBODY,
    Candidate,
    Choice,
    Flow,
    KernelScheduler,
    PapersScheduler,
    Server,
    unavailable,
    weightless,
)

HEAD: Final = -1
"""The position before the first server: the list's head."""


class KernelRoundRobin(KernelScheduler):
    def start(self) -> None:
        self._last = HEAD

    def added(self, position: int) -> None:  # noqa: ARG002 - always in front
        if self._last != HEAD:
            self._last += 1

    def deleted(self, position: int) -> None:
        if position <= self._last:
            self._last -= 1

    def choose(self, _flow: Flow, /) -> Choice:
        following = self._last + 1
        turn = chain(range(following, len(self.servers)), range(following))
        choice, position = next_in_turn(self.servers, turn, self._last, unavailable)
        self._last = position
        return choice


class PapersRoundRobin(PapersScheduler):
    """The papers' servers are fixed; where they are changed all the same, the index stays as it is."""

    def start(self) -> None:
        self._last: int | None = None

    def choose(self, _flow: Flow, /) -> Choice:
        count = len(self.servers)
        last = count - 1 if self._last is None else self._last
        turn = [(last + step) % count for step in range(1, count + 1)]
        choice, self._last = next_in_turn(self.servers, turn, last, weightless)
        return choice


def next_in_turn(
    servers: list[Server], turn: Iterable[int], last: int, refusal: Callable[[Server], str]
) -> tuple[Choice, int]:
    """Return the first server of the turn that nothing speaks against, and the new position of the pointer."""
    state = (("pointer", servers[last].name if 0 <= last < len(servers) else "head"),)
    candidates = []
    for position in turn:
        server = servers[position]
        reason = refusal(server)
        candidates.append(Candidate(server, reason or "taken"))
        if not reason:
            return Choice(server, "the next in turn", state, tuple(candidates)), position
    return Choice(None, NOBODY, state, tuple(candidates)), last
