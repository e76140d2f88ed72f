"""Weighted round robin: turns in which only servers of at least the current weight take part.

The papers: index i = -1 and current weight cw = 0 at the start. i advances; whenever it comes to 0, cw falls by the
greatest common divisor of the weights, and from 0 or below goes to their maximum; Si takes the connection if its
weight is at least cw. All weights 0: refused. Weights 4, 3, 2 give AABABCABC.

The kernel (net/netfilter/ipvs/ip_vs_wrr.c) differs in this:

- new destinations go in front of the list, so the newest comes first;
- the highest cw is mw = maximum - (divisor - 1), so that each cycle ends at cw = 1;
- every add, delete and edit sends the pointer back to the head of the list and keeps cw, brought into range:
  cw = mw if it was 0 or above mw, else cw = cw // divisor * divisor + 1 if the divisor is above 1. Servers added one
  by one therefore begin at a low cw, not at the maximum;
- overloaded servers are passed over; when every server is, the connection is refused and the place in the cycle moves.
"""

from __future__ import annotations

from math import gcd
from typing import Final

from lvslab.ipvs.schedulers.model import NOBODY, Candidate, Choice, Flow, KernelScheduler, PapersScheduler, Server

HEAD: Final = -1
"""The position before the first server: the list's head."""


class KernelWeightedRoundRobin(KernelScheduler):
    def start(self) -> None:
        self._last = HEAD
        self._measure()
        self._current = self._highest

    def added(self, position: int) -> None:  # noqa: ARG002 - always in front
        self._changed()

    def deleted(self, position: int) -> None:  # noqa: ARG002 - the pointer goes back wherever it was
        self._changed()

    def edited(self) -> None:
        self._changed()

    def choose(self, _flow: Flow, /) -> Choice:
        state = (
            ("pointer", "head" if self._last == HEAD else self.servers[self._last].name),
            ("current weight", self._current),
            ("gcd", self._step),
        )
        seen: list[Candidate] = []
        chosen = self._next(seen)
        if chosen is None:
            return Choice(None, NOBODY, state, tuple(seen))
        return Choice(chosen, f"weight {self._current} or more", state, tuple(seen))

    def _next(self, seen: list[Candidate]) -> Server | None:
        if self._highest == 0:
            return None
        first, stop = self._last, None
        last_pass = restarted = False
        while True:
            position = self._search(stop, seen)
            if position is not None:
                self._last = position
                chosen = self.servers[position]
                return None if self._refusal(chosen) else chosen
            self._current -= self._step
            if self._current <= 0:
                self._current = self._highest
                if last_pass or first == HEAD:
                    self._last = HEAD
                    return None
                restarted = True
            self._last = HEAD
            last_pass = self._current <= self._step
            if last_pass and restarted and first != HEAD:
                stop = first

    def _search(self, stop: int | None, seen: list[Candidate]) -> int | None:
        """Return the next position after the last one that takes the connection, or `stop` if that is reached."""
        for position in range(self._last + 1, len(self.servers)):
            server = self.servers[position]
            refusal = self._refusal(server)
            seen.append(Candidate(server, refusal or "taken"))
            if not refusal or position == stop:
                return position
        return None

    def _refusal(self, server: Server) -> str:
        if server.weight < self._current:
            return f"below {self._current}"
        return "overloaded" if server.overloaded else ""

    def _changed(self) -> None:
        self._last = HEAD
        self._measure()
        if self._current > self._highest or self._current == 0:
            self._current = self._highest
        elif self._step > 1:
            self._current = self._current // self._step * self._step + 1

    def _measure(self) -> None:
        weights = [server.weight for server in self.servers]
        self._step = gcd(*weights) or 1
        self._highest = max(weights, default=0) - (self._step - 1)


class PapersWeightedRoundRobin(PapersScheduler):
    """The papers' servers are fixed; where they are changed all the same, i and cw stay as they are."""

    def start(self) -> None:
        self._last = -1
        self._current = 0

    def choose(self, _flow: Flow, /) -> Choice:
        weights = [server.weight for server in self.servers]
        state = (("i", self._last), ("current weight", self._current), ("gcd", gcd(*weights)))
        if not any(weights):
            return Choice(None, "every weight is 0", state)
        seen = []
        while True:
            self._last = (self._last + 1) % len(self.servers)
            if self._last == 0:
                self._current -= gcd(*weights)
                if self._current <= 0:
                    self._current = max(weights)
            server = self.servers[self._last]
            if server.weight >= self._current:
                seen.append(Candidate(server, "taken"))
                return Choice(server, f"weight {self._current} or more", state, tuple(seen))
            seen.append(Candidate(server, f"below {self._current}"))
