"""VS/DR and VS/TUN: the server answers the client itself, as the VIP, and no reply touches the director."""

from __future__ import annotations

from functools import partial

from lvslab.topology.model import VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.causes.replies import by_way_of_director
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement
from lvslab.verify.expectations.replies import Reply, ReplyRule, judge_replies
from lvslab.verify.result import Result
from lvslab.verify.served import Served, vip_endpoint

NAME = "direct-reply"


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    expected = f"servers answer the client as {vip_endpoint(service)}; no reply touches {service.director}"
    statement = Statement(NAME, expected)
    rule = ReplyRule(statement, partial(_fault, statement), f"none at {service.director}")
    return judge_replies(rule, evidence, connections)


def _fault(statement: Statement, reply: Reply) -> Result | None:
    service, origin = reply.served.service, reply.walk.origin
    touched = reply.walk.at(service.director)
    if touched:
        return statement.failed(
            f"{reply.served.label}: the reply of {origin.node} came to {service.director}",
            where=touched[0].where,
            frames=reply.walk.frames,
            cause=by_way_of_director(reply.evidence, service, origin.node, reply.walk.hops[-1]),
        )
    if origin.source != vip_endpoint(service):
        return statement.failed(
            f"{reply.served.label}: {origin.node} answered as {origin.source}",
            where=origin.where,
            frames=[origin.number],
            cause=Cause("something rewrites the server's source address", f"on {origin.node}: iptables -t nat -S"),
        )
    return None
