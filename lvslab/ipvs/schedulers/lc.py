"""Least connections: the server with the fewest.

The papers take the server with the least C among those of weight above 0, C being its connections of every state; the
first wins ties. They warn that entries in TIME_WAIT count in full.

The kernel (net/netfilter/ipvs/ip_vs_lc.c) differs in this: an active connection costs as much as 256 inactive ones, or
257, see :mod:`lvslab.ipvs.schedulers.counting`; overloaded servers are passed over; the first in its list, which wins
ties, is the newest.
"""

from __future__ import annotations

from lvslab.ipvs.schedulers.least import connections, least, overhead
from lvslab.ipvs.schedulers.model import Choice, Flow, KernelScheduler, PapersScheduler, weightless


class KernelLeastConnections(KernelScheduler):
    def choose(self, _flow: Flow, /) -> Choice:
        return least(self.servers, overhead(self.counting), weighted=False)


class PapersLeastConnections(PapersScheduler):
    def choose(self, _flow: Flow, /) -> Choice:
        return least(self.servers, connections, weighted=False, refusal=weightless)
