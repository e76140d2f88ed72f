"""Never queue: an idle server if there is one, else as shortest expected delay.

Not in the papers. The kernel (net/netfilter/ipvs/ip_vs_nq.c) takes the first server of its list, newest first, that
has no active connection, whatever its weight above 0; with none idle it compares as
:mod:`lvslab.ipvs.schedulers.sed`. UDP entries are never active, so UDP always goes to the newest server.
"""

from __future__ import annotations

from itertools import takewhile

from lvslab.ipvs.schedulers.least import active_and_this_one, least
from lvslab.ipvs.schedulers.model import Candidate, Choice, Flow, KernelScheduler, Server, unavailable


class KernelNeverQueue(KernelScheduler):
    def choose(self, _flow: Flow, /) -> Choice:
        idle = next((server for server in self.servers if _idle(server)), None)
        if idle is None:
            return least(self.servers, active_and_this_one)
        earlier = [
            Candidate(server, unavailable(server) or "not idle")
            for server in takewhile(lambda server: server is not idle, self.servers)
        ]
        return Choice(idle, "the first that is idle", candidates=(*earlier, Candidate(idle, "taken")))


def _idle(server: Server) -> bool:
    return not unavailable(server) and server.active == 0
