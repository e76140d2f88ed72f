"""Choosing the least loaded server: what lc, wlc, lblc, lblcr, sed and nq have in common.

Loads are compared as cost by weight, C1/W1 > C2/W2, but without division: C1 · W2 > C2 · W1. Only less replaces the
server found so far, so the first of equals wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lvslab.ipvs.schedulers.counting import Counting
from lvslab.ipvs.schedulers.model import NOBODY, Candidate, Choice, Server, unavailable

Cost = Callable[[Server], int]
Refusal = Callable[[Server], str]


def overhead(counting: Counting) -> Cost:
    """Return the cost that the kernel's least-connection schedulers compare (ip_vs.h: ip_vs_dest_conn_overhead)."""
    return lambda server: server.active * counting.value + server.inactive


def connections(server: Server) -> int:
    """Return the papers' C: every connection counts as one."""
    return server.connections


def active_and_this_one(server: Server) -> int:
    """Return the expected cost of sed and nq (ip_vs_sed.c, ip_vs_nq.c): active connections and the new one."""
    return server.active + 1


def least(servers: Sequence[Server], cost: Cost, *, weighted: bool = True, refusal: Refusal = unavailable) -> Choice:
    """Return the first of the servers whose cost, by weight unless told otherwise, is least."""
    best: Server | None = None
    for server in servers:
        if not refusal(server) and (best is None or _is_less(server, best, cost, weighted=weighted)):
            best = server
    candidates = tuple(_candidate(server, best, cost, refusal) for server in servers)
    if best is None:
        return Choice(None, NOBODY, candidates=candidates)
    return Choice(best, "least cost by weight" if weighted else "least cost", candidates=candidates)


def _is_less(server: Server, best: Server, cost: Cost, *, weighted: bool) -> bool:
    if weighted:
        return cost(best) * server.weight > cost(server) * best.weight
    return cost(best) > cost(server)


def _candidate(server: Server, best: Server | None, cost: Cost, refusal: Refusal) -> Candidate:
    reason = refusal(server)
    if reason:
        return Candidate(server, reason)
    return Candidate(server, "taken" if server is best else "not less", cost(server))
