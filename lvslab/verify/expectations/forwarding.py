"""What the director does to each request: the part the three forwarding methods share.

Every packet of every connection must come in at the director, leave it for one and the same real server with
the method's changes and no others, and arrive there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lvslab.topology.model import Destination, VirtualService
from lvslab.verify import causes
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.passage import Passage, passage_at
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.walk.model import Walk

Complaint = str
"""What is wrong with a passage, in words; empty if nothing is."""


@dataclass(frozen=True, slots=True)
class Forwarding:
    """One method's rule: its statement, and what may be wrong with the packet it sent to a server."""

    statement: Statement
    complain: Callable[[Passage, VirtualService, Destination], Complaint]


def judge_requests(
    rule: Forwarding, evidence: Evidence, service: VirtualService, connections: Sequence[Served]
) -> Result:
    if not connections:
        return _never_seen(rule, evidence, service)
    frames: list[int] = []
    packets = 0
    for served in connections:
        for walk in served.requests:
            fault = _fault(rule, evidence, served, walk)
            if fault is not None:
                return fault
            packets += 1
        passage = passage_at(served.opening, service.director, evidence.walks.names)
        frames += passage.frames if passage else ()
    seen = f"{count(packets, 'packet')} of {count(len(connections), 'connection')}, each as expected"
    return rule.statement.passed(seen, frames, service.director)


def _never_seen(rule: Forwarding, evidence: Evidence, service: VirtualService) -> Result:
    return rule.statement.failed(
        f"no packet to {service.vip}:{service.port} was sent by any client",
        where=service.director,
        cause=causes.not_delivered_to_director(evidence, service),
    )


def _fault(rule: Forwarding, evidence: Evidence, served: Served, walk: Walk) -> Result | None:
    service, statement = served.service, rule.statement
    passage = passage_at(walk, service.director, evidence.walks.names)
    if passage is None:
        return _not_forwarded(statement, evidence, served, walk)
    destination = _receiver(walk, served)
    if destination is None:
        return statement.failed(
            f"{served.label}: {service.director} sent it on, but no real server received it",
            where=passage.exit.where,
            frames=[passage.exit.number],
            cause=causes.Cause("it was lost on the way, or sent to a node that is no server", "lvslab walk shows it"),
        )
    complaint = rule.complain(passage, service, destination)
    if complaint:
        return statement.failed(
            f"{served.label}: {complaint}",
            where=passage.exit.where,
            frames=passage.frames,
            cause=causes.Cause(
                f"{service.director} does not forward to {destination.node} by this method", "ipvsadm -Ln"
            ),
        )
    if served.destination is not None and destination != served.destination:
        return statement.failed(
            f"{served.label}: began with {served.destination.node}, went on with {destination.node}",
            where=passage.exit.where,
            frames=passage.frames,
            cause=causes.Cause("the connection changed its server half-way", "look at the connection table"),
        )
    return None


def _not_forwarded(statement: Statement, evidence: Evidence, served: Served, walk: Walk) -> Result | None:
    service = served.service
    at_director = walk.at(service.director)
    if at_director and served.reset_by_client() is walk.origin:
        # A client that was answered by a stranger resets a connection the director has no entry for.
        return None
    if at_director:
        return statement.failed(
            f"{served.label}: {service.director} took it in and sent nothing on",
            where=at_director[0].where,
            frames=[at_director[0].number],
            cause=causes.not_forwarded(evidence, service),
        )
    if walk.receivers:
        end = walk.receivers[0]
        return statement.failed(
            f"{served.label}: it reached {end.node} without passing {service.director}",
            where=end.where,
            frames=[end.number],
            cause=causes.bypassed(evidence, service, end.node),
        )
    return statement.failed(
        f"{served.label}: it left {walk.origin.node} and was not received",
        where=walk.origin.where,
        frames=[walk.origin.number],
        cause=causes.not_delivered_to_director(evidence, service),
    )


def _receiver(walk: Walk, served: Served) -> Destination | None:
    received = {hop.node for hop in walk.receivers}
    return next((item for item in served.service.destinations if item.node in received), None)
