"""What the director does to each request: the part the three forwarding methods share.

Every packet of every connection must come in at the director, leave it once, for one and the same real server,
with the method's changes and no others, and arrive there. A packet that a link lost on the way is no fault of
the cluster as long as its connection was answered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lvslab.topology.model import Destination, VirtualService
from lvslab.verify.calls import calls_of
from lvslab.verify.causes import neighbours, requests
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.passage import Passage, passages_at
from lvslab.verify.result import Result
from lvslab.verify.served import Served, receiver_of
from lvslab.verify.too_large import was_refused
from lvslab.walk.model import Walk

Complaint = str
"""What is wrong with a passage, in words; empty if nothing is."""


@dataclass(frozen=True, slots=True)
class Forwarding:
    """One method's rule: its statement, and what may be wrong with the packet it sent to a server."""

    statement: Statement
    complain: Callable[[Passage, VirtualService, Destination], Complaint]
    look: str = "ipvsadm -Ln"
    """What shows at the director why it does otherwise."""


def judge_requests(
    rule: Forwarding, evidence: Evidence, service: VirtualService, connections: Sequence[Served]
) -> Result:
    fault = _never_sent(rule.statement, evidence, service, connections)
    if fault is not None:
        return fault
    if not connections:
        return rule.statement.skipped("no call was made")
    frames: list[int] = []
    packets = lost = refused = 0
    sent_on = [served for served in connections if not served.kept]
    for served in sent_on:
        for walk in served.requests:
            if _lost_on_a_link(served, walk):
                lost += 1
                continue
            if was_refused(served, walk):
                refused += 1
                continue
            fault = _fault(rule, evidence, served, walk)
            if fault is not None:
                return fault
            packets += 1
            if walk is served.opening:
                frames += passages_at(walk, service.director, evidence.walks.names)[0].frames
    if not sent_on:
        return rule.statement.skipped(f"{service.director} kept every connection for itself")
    seen = f"{count(packets, 'packet')} of {count(len(sent_on), 'connection')}, each as expected"
    if lost:
        seen += f"; {lost} lost on a link and sent again"
    if refused:
        seen += f"; {refused} too large for the way"
    return rule.statement.passed(seen, frames, service.director)


def _lost_on_a_link(served: Served, walk: Walk) -> bool:
    """Tell a packet that some node sent and none received, in a connection that got its answer all the same."""
    return served.answered and not walk.receivers


def _never_sent(
    statement: Statement, evidence: Evidence, service: VirtualService, connections: Sequence[Served]
) -> Result | None:
    calls = calls_of(evidence, service, connections)
    silent = [call.outcome for call in calls if call.served is None and call.outcome and not call.outcome.ok]
    if not silent:
        return None
    return statement.failed(
        f"{len(silent)} of {count(len(calls), 'call')} never sent a packet to {service.vip}:{service.port} "
        f"({silent[0].status})",
        where=silent[0].client,
        cause=requests.never_sent(evidence, service, tuple(silent)),
    )


def _fault(rule: Forwarding, evidence: Evidence, served: Served, walk: Walk) -> Result | None:
    service, statement = served.service, rule.statement
    passages = passages_at(walk, service.director, evidence.walks.names)
    if not passages:
        return _not_forwarded(statement, evidence, served, walk)
    passage = passages[0]
    destination = receiver_of(walk, service)
    if destination is None:
        return _not_received(statement, evidence, served, walk)
    complaint = rule.complain(passage, service, destination)
    if len(passages) > 1:
        complaint = f"it came to {service.director} {len(passages)} times"
    if complaint:
        return statement.failed(
            f"{served.label}: {complaint}",
            where=passage.exit.where,
            frames=passage.frames,
            cause=Cause(
                f"{service.director} does not forward to {destination.node} by this method",
                f"on {service.director}: {rule.look}",
            ),
        )
    if destination != served.destination and served.destination is not None:
        return statement.failed(
            f"{served.label}: began with {served.destination.node}, went on with {destination.node}",
            where=passage.exit.where,
            frames=passage.frames,
            cause=Cause(
                "the entry of the connection was lost, and its next packet scheduled anew",
                f"on {service.director}: ipvsadm -Lnc",
            ),
        )
    return None


def _not_received(statement: Statement, evidence: Evidence, served: Served, walk: Walk) -> Result:
    end, director = walk.hops[-1], served.service.director
    seen_last = "" if end.node == director else f"; it was last seen at {end.node}"
    return statement.failed(
        f"{served.label}: {director} sent it on, but no real server received it{seen_last}",
        where=end.where,
        frames=walk.frames,
        cause=requests.lost_behind_director(evidence, served.service, end),
    )


def _not_forwarded(statement: Statement, evidence: Evidence, served: Served, walk: Walk) -> Result:
    service = served.service
    at_director = walk.at(service.director)
    if at_director:
        return statement.failed(
            f"{served.label}: {service.director} took it in and sent nothing on",
            where=at_director[0].where,
            frames=[at_director[0].number],
            cause=requests.not_forwarded(evidence, service),
        )
    end = walk.hops[-1]
    if receiver_of(walk, service) is not None:
        return statement.failed(
            f"{served.label}: it reached {end.node} without passing {service.director}",
            where=end.where,
            frames=[end.number],
            cause=neighbours.bypassed(evidence, service, end.node),
        )
    return statement.failed(
        f"{served.label}: it never reached {service.director}; it was last seen at {end.node}",
        where=end.where,
        frames=walk.frames,
        cause=requests.stopped_at(evidence, service, end.node),
    )
