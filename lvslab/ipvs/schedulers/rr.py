"""Round robin: each server in turn, those of weight 0 passed over.

The papers number the servers S0 to Sn-1 and keep the index of the last choice, n-1 at the start; the next server of
weight above 0 takes the connection, and after a full turn without one it is refused.

The kernel (net/netfilter/ipvs/ip_vs_rr.c) keeps a pointer into the service's list of destinations instead. It differs
in this: new destinations go in front of the list, so the newest comes first at the start and later ones wait for the
next turn; overloaded servers are passed over too; deleting the server pointed at moves the pointer one back; editing a
weight moves nothing.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

from lvslab.ipvs.schedulers.model import Flow, Scheduler, Server, available

HEAD: Final = -1
"""The position before the first server: the list's head."""


class KernelRoundRobin(Scheduler):
    def start(self) -> None:
        self._last = HEAD

    def add(self, server: Server) -> None:
        self.servers.insert(0, server)
        if self._last != HEAD:
            self._last += 1

    def delete(self, name: str) -> None:
        position = self.position(name)
        del self.servers[position]
        if position <= self._last:
            self._last -= 1

    def pick(self, _flow: Flow, /) -> Server | None:
        following = self._last + 1
        for position in chain(range(following, len(self.servers)), range(following)):
            if available(self.servers[position]):
                self._last = position
                return self.servers[position]
        return None


class PapersRoundRobin(Scheduler):
    """The papers' servers are fixed; where they are changed all the same, the index stays as it is."""

    def start(self) -> None:
        self._last = len(self.servers) - 1

    def add(self, server: Server) -> None:
        self.servers.append(server)

    def delete(self, name: str) -> None:
        del self.servers[self.position(name)]

    def pick(self, _flow: Flow, /) -> Server | None:
        count = len(self.servers)
        for step in range(1, count + 1):
            position = (self._last + step) % count
            if self.servers[position].weight > 0:
                self._last = position
                return self.servers[position]
        return None
