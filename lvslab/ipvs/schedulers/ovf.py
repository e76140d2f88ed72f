"""Weighted overflow: the heaviest server until it carries more than its weight, then the next.

Not in the papers. The kernel (net/netfilter/ipvs/ip_vs_ovf.c) takes the highest weight among the servers whose active
connections do not exceed their weight, so each takes weight + 1; overloaded servers and weight 0 are passed over, the
newest wins ties, and when all have overflowed the connection is refused. UDP entries are never active, so UDP never
overflows.
"""

from __future__ import annotations

from lvslab.ipvs.schedulers.heaviest import heaviest
from lvslab.ipvs.schedulers.model import Choice, Flow, KernelScheduler, Server, unavailable


class KernelOverflow(KernelScheduler):
    def choose(self, _flow: Flow, /) -> Choice:
        return heaviest(self.servers, _refusal)


def _refusal(server: Server) -> str:
    if server.active > server.weight:
        return f"{server.active} active connections exceed weight {server.weight}"
    return unavailable(server)
