"""Locality-based least connections: a destination address stays with its server, for clusters of caches.

The papers keep the server last used for a destination unless it is gone, of weight 0, or overloaded (C > W) while some
server is below half its weight (C < W/2); otherwise the server is chosen by weighted least connections and remembered.
What was not used for 24 hours is forgotten.

The kernel (net/netfilter/ipvs/ip_vs_lblc.c) differs in this: only active connections count as C in that test; the
choice is that of its wlc; a remembered server gets connections although it has reached its upper threshold; forgetting
takes up to half an hour longer, see :mod:`lvslab.ipvs.schedulers.locality`. A server that is deleted and comes back
while it is remembered is the same server.
"""

from __future__ import annotations

from dataclasses import replace

from lvslab.ipvs.schedulers.least import connections, least, overhead
from lvslab.ipvs.schedulers.locality import DAY_S, Cache, kernel_overloaded, papers_overloaded
from lvslab.ipvs.schedulers.model import (
    Candidate,
    Choice,
    Flow,
    KernelScheduler,
    PapersScheduler,
    Server,
    weightless,
)

REMEMBERED = "remembered for this destination"


class KernelLocality(KernelScheduler):
    def start(self) -> None:
        self.cache: Cache[str] = Cache()

    def choose(self, flow: Flow, /) -> Choice:
        entry = self.cache.use(flow.destination, flow.at_s)
        known = next((server for server in self.servers if entry and server.name == entry.value), None)
        state = (("remembered", "nothing" if entry is None else entry.value),)
        if known is not None and known.weight > 0 and not kernel_overloaded(known, self.servers):
            return Choice(known, REMEMBERED, state, (Candidate(known, "taken"),))
        choice = replace(least(self.servers, overhead(self.counting)), state=state)
        if choice.server is not None and not (entry and entry.value == choice.server.name):
            self.cache.remember(flow.destination, choice.server.name, flow.at_s)
        return choice


class PapersLocality(PapersScheduler):
    def start(self) -> None:
        self._known: dict[object, tuple[str, float]] = {}

    def choose(self, flow: Flow, /) -> Choice:
        name, used_s = self._known.get(flow.destination, ("nothing", flow.at_s))
        known = next((server for server in self.servers if server.name == name), None)
        choice = self._choose(known if flow.at_s - used_s < DAY_S else None)
        if choice.server is not None:
            self._known[flow.destination] = choice.server.name, flow.at_s
        return replace(choice, state=(("remembered", name),))

    def _choose(self, known: Server | None) -> Choice:
        if known is not None and known.weight > 0 and not papers_overloaded(known, self.servers):
            return Choice(known, REMEMBERED, candidates=(Candidate(known, "taken"),))
        return least(self.servers, connections, refusal=weightless)
