"""Weighted failover: everything to the heaviest server that is there.

Not in the papers. The kernel (net/netfilter/ipvs/ip_vs_fo.c) takes the highest weight above 0, overloaded servers
passed over; the newest wins ties.
"""

from __future__ import annotations

from lvslab.ipvs.schedulers.heaviest import heaviest
from lvslab.ipvs.schedulers.model import Choice, Flow, KernelScheduler, unavailable


class KernelFailover(KernelScheduler):
    def choose(self, _flow: Flow, /) -> Choice:
        return heaviest(self.servers, unavailable)
