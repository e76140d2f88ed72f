"""Weighted least connections: the server with the fewest for its weight.

The papers take the server with the least C/W among those of weight above 0, compared by multiplication; the first wins
ties.

The kernel (net/netfilter/ipvs/ip_vs_wlc.c) differs as in :mod:`lvslab.ipvs.schedulers.lc`: an active connection costs
256 or 257 inactive ones, overloaded servers are passed over, the newest wins ties.
"""

from __future__ import annotations

from lvslab.ipvs.schedulers.least import connections, least, overhead
from lvslab.ipvs.schedulers.model import Choice, Flow, KernelScheduler, PapersScheduler, weightless


class KernelWeightedLeastConnections(KernelScheduler):
    def choose(self, _flow: Flow, /) -> Choice:
        return least(self.servers, overhead(self.counting))


class PapersWeightedLeastConnections(PapersScheduler):
    def choose(self, _flow: Flow, /) -> Choice:
        return least(self.servers, connections, refusal=weightless)
