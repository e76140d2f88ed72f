"""The way back: the part that the direct reply of DR and TUN and the translated reply of NAT share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lvslab.capture.packet import Icmp
from lvslab.topology.model import Destination
from lvslab.verify.causes import replies as causes
from lvslab.verify.causes.cause import Cause
from lvslab.verify.causes.servers import silent_server
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served, reached
from lvslab.verify.too_large import was_refused
from lvslab.walk.model import Hop, Walk

PORT_UNREACHABLE = frozenset({(4, 3, 3), (6, 1, 4)})
"""IP version, ICMP type and code with which a host says that no socket has the port (RFC 792, RFC 4443)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One packet of a real server's answer."""

    evidence: Evidence
    served: Served
    destination: Destination
    walk: Walk


@dataclass(frozen=True, slots=True)
class ReplyRule:
    """One method's rule: its statement, and what is wrong with a reply before it comes to the client."""

    statement: Statement
    fault: Callable[[Reply], Result | None]
    as_expected: str
    """What to say of the replies when nothing was wrong."""


def judge_replies(rule: ReplyRule, evidence: Evidence, connections: Sequence[Served]) -> Result:
    frames: list[int] = []
    packets = lost = refused = 0
    refusing = {served.destination.node for served in connections if served.destination and _refused(served)}
    for served in connections:
        destination = served.destination
        if destination is None or served.kept:
            continue
        walks = [walk for walk in served.replies if walk.origin.node != served.service.director]
        if not walks and destination.node in refusing:
            refused += 1
            continue
        if not walks:
            return _silent(rule.statement, evidence, served, destination.node)
        for walk in walks:
            if was_refused(served, walk):
                continue
            reply = Reply(evidence, served, destination, walk)
            fault = _stranger(rule.statement, reply) or rule.fault(reply)
            if fault is None and served.answered and not walk.receivers:
                lost += 1
                continue
            fault = fault or _not_arrived(rule.statement, reply)
            if fault is not None:
                return fault
            packets += 1
        frames += walks[0].frames
    if not packets:
        return rule.statement.skipped("no server sent a reply" if refused else "no request reached a server")
    tail = f"; {lost} lost on a link and sent again" if lost else ""
    return rule.statement.passed(f"{count(packets, 'reply', 'replies')}, {rule.as_expected}{tail}", frames)


def _refused(served: Served) -> bool:
    """Tell a server that did answer, with an ICMP error: whether it should have is judged elsewhere.

    Linux sends few of them to one peer (icmp(7): icmp_ratelimit), so one stands for all.
    """
    return any(
        served.destination is not None
        and walk.origin.node == served.destination.node
        and isinstance(icmp := walk.origin.packet.transport, Icmp)
        and walk.origin.packet.ip is not None
        and (walk.origin.packet.ip.version, icmp.type, icmp.code) in PORT_UNREACHABLE
        for walk in served.errors
    )


def _silent(statement: Statement, evidence: Evidence, served: Served, node: str) -> Result:
    own = _answer_as_somebody_else(evidence, served, node)
    if own is not None:
        return statement.failed(
            f"{served.label}: {node} answered as {own.source}, which the client never asked",
            where=own.where,
            frames=[own.number],
            cause=Cause(
                "the server program, or a rule for the source address, does not answer as the address it was asked by",
                f"on {node}: ss -ln, iptables -t nat -S",
            ),
        )
    arrival = next(hop for walk in served.requests for hop in walk.receivers if hop.node == node)
    return statement.failed(
        f"{served.label}: {node} received it and never answered",
        where=arrival.where,
        frames=[arrival.number],
        cause=silent_server(evidence, served.service, node),
    )


def _answer_as_somebody_else(evidence: Evidence, served: Served, node: str) -> Hop | None:
    """Return what a server sent to the client's port from another address: to the client it is no answer."""
    client = served.conversation.initiator
    origins = (walk.origin for walk in evidence.walks.walks)
    return next((hop for hop in origins if hop.node == node and hop.destination == client), None)


def _stranger(statement: Statement, reply: Reply) -> Result | None:
    origin = reply.walk.origin
    if origin.node == reply.destination.node:
        return None
    return statement.failed(
        f"{reply.served.label}: {reply.destination.node} got the request, {origin.node} answered",
        where=origin.where,
        frames=[origin.number],
        cause=Cause("two nodes take themselves for the server", "lvslab walk --all shows every packet"),
    )


def _not_arrived(statement: Statement, reply: Reply) -> Result | None:
    if reached(reply.walk, reply.served.client):
        return None
    end = reply.walk.hops[-1]
    return statement.failed(
        f"{reply.served.label}: the reply of {reply.destination.node} did not come to {reply.served.client}; "
        f"it was last seen at {end.where}",
        where=end.where,
        frames=reply.walk.frames,
        cause=causes.lost(reply.evidence, reply.served.service, end),
    )
