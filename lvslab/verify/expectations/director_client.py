"""The director as client: what it asks of its own VIP goes to a real server, and the answer comes back to it.

Such a packet meets IPVS on its way out (net/netfilter/ipvs/ip_vs_core.c: LOCAL_OUT), so the first that is seen of it
is what the forwarding method made of it.
"""

from __future__ import annotations

from lvslab.topology.model import Method, VirtualService
from lvslab.verify.causes.cause import UNKNOWN, Cause, facts_of
from lvslab.verify.causes.requests import lost_behind_director
from lvslab.verify.causes.servers import silent_server
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served, reached

NAME = "director-client"


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    director = service.director
    statement = Statement(NAME, f"{director} reaches a server through its own VIP, and takes the answer")
    if not connections:
        return statement.failed(f"{director} sent nothing to a server", where=director, cause=UNKNOWN)
    for served in connections:
        fault = _fault(statement, evidence, served)
        if fault is not None:
            return fault
    frames = [number for walk in connections[0].requests[:1] + connections[0].replies[:1] for number in walk.frames]
    return statement.passed(f"{count(len(connections), 'connection')}, all answered", frames, director)


def _fault(statement: Statement, evidence: Evidence, served: Served) -> Result | None:
    service, chosen, end = served.service, served.chosen, served.requests[-1].hops[-1]
    if chosen is None or served.destination != chosen:
        return statement.failed(
            f"{served.label}: no real server received it; it was last seen at {end.node}",
            where=end.where,
            frames=[end.number],
            cause=lost_behind_director(evidence, service, end),
        )
    if not served.replies:
        return statement.failed(
            f"{served.label}: {chosen.node} received it and never answered",
            where=end.where,
            frames=[end.number],
            cause=silent_server(evidence, service, chosen.node),
        )
    if served.answered:
        return None
    last = served.replies[-1].hops[-1]
    came = reached(served.replies[-1], service.director)
    how = f"came to {service.director}, which did not take it" if came else f"was last seen at {last.node}"
    return statement.failed(
        f"{served.label}: the answer of {chosen.node} {how}",
        where=last.where,
        frames=[last.number],
        cause=_martian(evidence, service) if came else UNKNOWN,
    )


def _martian(evidence: Evidence, service: VirtualService) -> Cause:
    """An answer in the VIP's name carries an address of the director's own (ip-sysctl.rst: accept_local)."""
    director = service.director
    facts = facts_of(evidence, director)
    if service.method is Method.NAT or facts is None:
        return UNKNOWN
    return Cause(
        f"the answer comes as {service.vip}, which {director} holds itself: it drops a source of its own (a martian)",
        f"on {director}: sysctl -w net.ipv4.conf.all.accept_local=1, or use nat",
    )
