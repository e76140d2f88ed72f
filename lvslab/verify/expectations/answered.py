"""Every call got an answer, from the real server that the capture says it went to."""

from __future__ import annotations

from lvslab.capture.packet import Icmp, Packet, Sctp, Tcp
from lvslab.capture.sctp import ABORT, has_chunk
from lvslab.topology.model import VirtualService
from lvslab.verify.calls import Call, calls_of
from lvslab.verify.causes.cause import UNKNOWN, Cause
from lvslab.verify.causes.refusals import refused_by
from lvslab.verify.causes.requests import never_sent
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.verify.too_large import next_mtu
from lvslab.walk.model import Walk

NAME = "answered"
WORDS = {
    "ETIMEDOUT": "no answer in time",
    "ECONNREFUSED": "connection refused",
    "ECONNRESET": "connection reset",
    "EHOSTUNREACH": "host unreachable",
    "ENETUNREACH": "network unreachable",
}


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    statement = Statement(NAME, f"every call to {service.vip}:{service.port} is answered by a real server")
    calls = calls_of(evidence, service, connections)
    if not calls:
        return statement.error(
            f"no call to {service.vip}:{service.port} is in the capture",
            reason="nothing was sent, so nothing could be judged",
            next_step="capture while calls are made (the topology's traffic: says how many)",
        )
    unseen = [call for call in calls if call.served is None and call.outcome and call.outcome.ok]
    if unseen:
        return statement.error(
            f"{len(unseen)} of {count(len(calls), 'call')} was answered, but is not in the capture",
            reason="the capture does not show all traffic",
            next_step="lvslab walk --unmatched shows what could not be joined",
        )
    failures = [(call, how) for call in calls if (how := _failure(call, service))]
    if failures:
        return _failed(statement, evidence, service, calls, failures)
    frames = [served.replies[-1].hops[-1].number for served in connections if served.replies]
    return statement.passed(f"{count(len(calls), 'call')}, all answered", frames)


def _failure(call: Call, service: VirtualService) -> str:
    """Return what was wrong with one call, from the client's own words or else from the capture."""
    outcome = call.outcome
    if outcome is None:
        return "" if call.served is not None and call.served.answered else "no answer came to the client"
    if not outcome.ok:
        return f"{WORDS[outcome.status]} ({outcome.status})" if outcome.status in WORDS else outcome.status
    if outcome.server not in {destination.node for destination in service.destinations}:
        return f"the answer says it is from {outcome.server or 'nobody'}"
    if call.served and call.served.destination and call.served.destination.node != outcome.server:
        return f"the answer says it is from {outcome.server}, but {call.served.destination.node} was asked"
    return ""


def _failed(
    statement: Statement,
    evidence: Evidence,
    service: VirtualService,
    calls: tuple[Call, ...],
    failures: list[tuple[Call, str]],
) -> Result:
    call, how = failures[0]
    seen = f"{len(failures)} of {count(len(calls), 'call')} failed; the first: {call.label}: {how}"
    if call.served is None:
        client = call.outcome.client if call.outcome else ""
        silent = tuple(other.outcome for other, _ in failures if other.outcome and other.served is None)
        return statement.failed(seen, where=client, cause=never_sent(evidence, service, silent))
    refusal = _refusal(call.served)
    end = refusal.origin if refusal else call.served.requests[-1].hops[-1]
    cause = _cause(evidence, call.served, refusal)
    return statement.failed(seen, where=end.where, frames=[end.number], cause=cause)


def _refusal(served: Served) -> Walk | None:
    """Return the reset or ICMP error that refused the call.

    An error of the client's is about what it was answered, and one about a packet's size refuses that packet alone.
    """
    for walk in served.replies:
        if _is_reset(walk.origin.packet):
            return walk
    errors = (walk for walk in served.errors if walk.origin.node != served.client)
    return next(
        (
            walk
            for walk in errors
            if isinstance(walk.origin.packet.transport, Icmp) and next_mtu(walk.origin.packet) is None
        ),
        None,
    )


def _is_reset(packet: Packet) -> bool:
    """Tell a TCP reset, or the ABORT by which SCTP refuses an association (RFC 9260 section 3.3.7)."""
    transport = packet.transport
    if isinstance(transport, Sctp):
        return has_chunk(transport, ABORT)
    return isinstance(transport, Tcp) and "R" in transport.flags


def _cause(evidence: Evidence, served: Served, refusal: Walk | None) -> Cause:
    return UNKNOWN if refusal is None else refused_by(evidence, served, refusal)
