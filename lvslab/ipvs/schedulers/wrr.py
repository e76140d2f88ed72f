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

from lvslab.ipvs.schedulers.model import Flow, Scheduler, Server

HEAD: Final = -1
"""The position before the first server: the list's head."""


class KernelWeightedRoundRobin(Scheduler):
    def start(self) -> None:
        self._last = HEAD
        self._measure()
        self._current = self._highest

    def add(self, server: Server) -> None:
        self.servers.insert(0, server)
        self._changed()

    def delete(self, name: str) -> None:
        del self.servers[self.position(name)]
        self._changed()

    def edit(self, name: str, weight: int) -> None:
        super().edit(name, weight)
        self._changed()

    def pick(self, _flow: Flow, /) -> Server | None:
        if self._highest == 0:
            return None
        first, stop = self._last, None
        last_pass = restarted = False
        while True:
            position = self._search(stop)
            if position is not None:
                self._last = position
                chosen = self.servers[position]
                return chosen if self._takes(chosen) else None
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

    def _search(self, stop: int | None) -> int | None:
        """Return the next position after the last one that takes the connection, or `stop` if that is reached."""
        for position in range(self._last + 1, len(self.servers)):
            if self._takes(self.servers[position]) or position == stop:
                return position
        return None

    def _takes(self, server: Server) -> bool:
        return server.weight >= self._current and not server.overloaded

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


class PapersWeightedRoundRobin(Scheduler):
    """The papers' servers are fixed; where they are changed all the same, i and cw stay as they are."""

    def start(self) -> None:
        self._last = -1
        self._current = 0

    def add(self, server: Server) -> None:
        self.servers.append(server)

    def delete(self, name: str) -> None:
        del self.servers[self.position(name)]

    def pick(self, _flow: Flow, /) -> Server | None:
        weights = [server.weight for server in self.servers]
        if not any(weights):
            return None
        while True:
            self._last = (self._last + 1) % len(self.servers)
            if self._last == 0:
                self._current -= gcd(*weights)
                if self._current <= 0:
                    self._current = max(weights)
            if weights[self._last] >= self._current:
                return self.servers[self._last]
