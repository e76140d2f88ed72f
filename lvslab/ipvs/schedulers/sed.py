"""Shortest expected delay: the server on which the new connection would be the least for the weight.

Not in the papers. The kernel (net/netfilter/ipvs/ip_vs_sed.c) compares (active connections + 1) by weight; overloaded
servers and those of weight 0 are passed over, the newest wins ties. Inactive connections do not count, so UDP, whose
entries are never active, always goes to the heaviest.
"""

from __future__ import annotations

from lvslab.ipvs.schedulers.least import active_and_this_one, least
from lvslab.ipvs.schedulers.model import Choice, Flow, KernelScheduler


class KernelShortestExpectedDelay(KernelScheduler):
    def choose(self, _flow: Flow, /) -> Choice:
        return least(self.servers, active_and_this_one)
