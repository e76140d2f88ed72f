"""VS/NAT, reply: it leaves the server with the server's address, passes the director, and comes back as the VIP."""

from __future__ import annotations

from lvslab.topology.model import Destination, VirtualService
from lvslab.verify import causes
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement
from lvslab.verify.passage import Passage, passage_at
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.walk.model import Endpoint, Walk
from lvslab.walk.words import Field

NAME = "nat-reply"
ALLOWED = frozenset({Field.DESTINATION_MAC, Field.SOURCE_MAC, Field.TTL, Field.SOURCE})


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    vip = Endpoint(str(service.vip), service.port)
    statement = Statement(NAME, f"replies pass {service.director}, which rewrites their source to {vip}")
    frames: list[int] = []
    packets = 0
    for served in connections:
        if served.destination is None:
            continue
        if not served.replies:
            return _silent(statement, evidence, served, served.destination.node)
        for walk in served.replies:
            fault = _fault(statement, evidence, served, served.destination, walk)
            if fault is not None:
                return fault
            packets += 1
        passage = passage_at(served.replies[0], service.director, evidence.walks.names)
        frames += passage.frames if passage else ()
    if not packets:
        return statement.skipped("no request reached a server")
    return statement.passed(f"{packets} of them, each as expected" if packets > 1 else "one, as expected", frames)


def _silent(statement: Statement, evidence: Evidence, served: Served, node: str) -> Result:
    arrival = next(hop for walk in served.requests for hop in walk.hops if hop.node == node)
    return statement.failed(
        f"{served.label}: {node} received it and never answered",
        where=arrival.where,
        frames=[arrival.number],
        cause=causes.silent_server(evidence, served.service, node),
    )


def _fault(
    statement: Statement, evidence: Evidence, served: Served, destination: Destination, walk: Walk
) -> Result | None:
    service, origin = served.service, walk.origin
    if origin.node == service.director:
        # The director's own words: a refusal, judged as such elsewhere.
        return None
    passage = passage_at(walk, service.director, evidence.walks.names)
    if passage is None:
        return _not_through(statement, evidence, served, walk)
    complaint = _complain(passage, service, destination)
    if complaint:
        return statement.failed(
            f"{served.label}: {complaint}",
            where=passage.exit.where,
            frames=passage.frames,
            cause=causes.Cause(f"{service.director} has no entry for this connection", "ipvsadm -Lnc"),
        )
    if not any(hop.node == served.client for hop in walk.receivers):
        end = walk.hops[-1]
        return statement.failed(
            f"{served.label}: the reply was last seen at {end.node}",
            where=end.where,
            frames=[end.number],
            cause=causes.reply_lost(evidence, service, end),
        )
    return None


def _not_through(statement: Statement, evidence: Evidence, served: Served, walk: Walk) -> Result:
    service, origin = served.service, walk.origin
    at_director = walk.at(service.director)
    if at_director:
        return statement.failed(
            f"{served.label}: the reply of {origin.node} reached {service.director} and went no further",
            where=at_director[0].where,
            frames=[at_director[0].number],
            cause=causes.reply_kept(evidence, service),
        )
    others = [node for node in walk.nodes if node != origin.node]
    if not others:
        return statement.failed(
            f"{served.label}: the reply left {origin.node} and was not received",
            where=origin.where,
            frames=[origin.number],
            cause=causes.Cause("the address of its gateway is nobody's", f"ip route on {origin.node}"),
        )
    end = walk.hops[-1]
    return statement.failed(
        f"{served.label}: {origin.node} answered {origin.destination} as {origin.source} by way of {others[0]}, "
        f"not by {service.director}",
        where=end.where,
        frames=[origin.number, end.number],
        cause=causes.reply_off_path(evidence, service, origin.node, others[0]),
    )


def _complain(passage: Passage, service: VirtualService, destination: Destination) -> str:
    extra = passage.beyond(ALLOWED)
    if extra:
        return f"{service.director} also changed {extra[0].sentence or extra[0].field}"
    vip = Endpoint(str(service.vip), service.port)
    if passage.entry.source != Endpoint(str(destination.address), destination.port):
        return f"the reply came from {passage.entry.source}"
    if passage.exit.source != vip:
        return f"the reply left {service.director} as {passage.exit.source} instead of {vip}"
    if passage.ttl_step != 1:
        return f"TTL fell by {passage.ttl_step} at {service.director}"
    return ""
