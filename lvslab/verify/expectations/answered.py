"""Every call got an answer, from a real server of the service."""

from __future__ import annotations

from lvslab.capture.packet import Icmp, Tcp
from lvslab.topology.model import VirtualService
from lvslab.traffic.outcome import Outcome
from lvslab.verify import causes
from lvslab.verify.causes import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.walk.model import Walk

NAME = "answered"


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    servers = {destination.node for destination in service.destinations}
    statement = Statement(NAME, f"every call to {service.vip}:{service.port} is answered by a real server")
    if not connections:
        return statement.failed("no packet of any call was captured", where=service.director)
    outcomes = _outcomes(evidence, service)
    failures = [(served, how) for served in connections if (how := _failure(served, outcomes, servers))]
    if not failures:
        frames = [served.replies[-1].hops[-1].number for served in connections if served.replies]
        return statement.passed(f"{count(len(connections), 'call')}, all answered", frames)
    served, how = failures[0]
    refusal = _refusal(served)
    end = refusal.origin if refusal else served.requests[-1].hops[-1]
    return statement.failed(
        f"{len(failures)} of {count(len(connections), 'call')} failed; the first: {served.label}: {how}",
        where=end.where,
        frames=[end.number],
        cause=_cause(evidence, served, refusal),
    )


def _outcomes(evidence: Evidence, service: VirtualService) -> dict[tuple[str, int], Outcome]:
    return {
        (outcome.client, outcome.client_port): outcome
        for outcome in evidence.outcomes or ()
        if outcome.address == str(service.vip) and outcome.port == service.port
    }


def _failure(served: Served, outcomes: dict[tuple[str, int], Outcome], servers: set[str]) -> str:
    """Return what was wrong with one call, from the client's own words or else from the capture."""
    initiator = served.conversation.initiator
    outcome = outcomes.get((served.client, initiator.port or 0)) if initiator else None
    if outcome is None:
        return "" if _data_came_back(served) else "no answer reached the client"
    if not outcome.ok:
        return outcome.status
    return "" if outcome.server in servers else f"the answer says it is from {outcome.server or 'nobody'}"


def _data_came_back(served: Served) -> bool:
    return any(
        walk.origin.packet.payload and any(hop.node == served.client for hop in walk.receivers)
        for walk in served.replies
    )


def _refusal(served: Served) -> Walk | None:
    """Return the reset or ICMP error that refused the call."""
    for walk in served.replies:
        transport = walk.origin.packet.transport
        if isinstance(transport, Tcp) and "R" in transport.flags:
            return walk
    return next((walk for walk in served.conversation.errors if isinstance(walk.origin.packet.transport, Icmp)), None)


def _cause(evidence: Evidence, served: Served, refusal: Walk | None) -> Cause:
    if refusal is not None:
        port = served.destination.port if served.destination else served.service.port
        return causes.refused(evidence, served.service, refusal.origin.node, port)
    return Cause("see the other expectations of this topology", "lvslab walk shows how far the packets got")
