"""VS/NAT, reply: it leaves the server with the server's address, passes the director, and comes back as the VIP."""

from __future__ import annotations

from functools import partial

from lvslab.topology.model import Destination, VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.causes.replies import kept_by_director, off_path
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement
from lvslab.verify.expectations.replies import Reply, ReplyRule, judge_replies
from lvslab.verify.passage import Passage, passages_at
from lvslab.verify.result import Result
from lvslab.verify.served import Served, vip_endpoint
from lvslab.walk.model import Endpoint
from lvslab.walk.words import Field

NAME = "nat-reply"
ALLOWED = frozenset({Field.DESTINATION_MAC, Field.SOURCE_MAC, Field.TTL, Field.SOURCE, Field.SCTP_CHECKSUM})


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    vip = vip_endpoint(service)
    statement = Statement(NAME, f"replies pass {service.director}, which rewrites their source to {vip}")
    return judge_replies(ReplyRule(statement, partial(_fault, statement), f"each became {vip}"), evidence, connections)


def _fault(statement: Statement, reply: Reply) -> Result | None:
    director = reply.served.service.director
    passages = passages_at(reply.walk, director, reply.evidence.walks.names)
    if not passages:
        return _not_through(statement, reply)
    complaint = _complain(passages[0], reply.served.service, reply.destination)
    if not complaint:
        return None
    return statement.failed(
        f"{reply.served.label}: {complaint}",
        where=passages[0].exit.where,
        frames=passages[0].frames,
        cause=Cause(f"{director} has no entry for this connection", f"on {director}: ipvsadm -Lnc"),
    )


def _not_through(statement: Statement, reply: Reply) -> Result | None:
    service, walk, label = reply.served.service, reply.walk, reply.served.label
    origin, end = walk.origin, walk.hops[-1]
    at_director = walk.at(service.director)
    if at_director:
        return statement.failed(
            f"{label}: the reply of {origin.node} reached {service.director} and went no further",
            where=at_director[0].where,
            frames=[at_director[0].number],
            cause=kept_by_director(reply.evidence, service),
        )
    others = [node for node in walk.nodes if node != origin.node]
    if not others:
        return None  # lost on its first link: whether it should have arrived is judged for every method alike
    return statement.failed(
        f"{label}: {origin.node} answered {origin.destination} as {origin.source} by way of {others[0]}, "
        f"not of {service.director}",
        where=end.where,
        frames=walk.frames,
        cause=off_path(reply.evidence, service, origin.node, others[0]),
    )


def _complain(passage: Passage, service: VirtualService, destination: Destination) -> str:
    extra = passage.beyond(ALLOWED | {Field.DESTINATION} if service.source_nat else ALLOWED)
    if extra:
        return f"at {service.director} something else changed, too: {extra}"
    own, vip = Endpoint(str(destination.address), destination.port), vip_endpoint(service)
    if passage.entry.source != own:
        return f"the reply came from {passage.entry.source} instead of {own}"
    if passage.exit.source != vip:
        return f"the reply left {service.director} as {passage.exit.source} instead of {vip}"
    return passage.wrong_ttl(service.director)
