"""VS/DR and VS/TUN: the server answers the client itself, as the VIP, and no reply touches the director."""

from __future__ import annotations

from lvslab.topology.model import VirtualService
from lvslab.verify import causes
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.walk.model import Endpoint, Walk

NAME = "direct-reply"


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    vip = Endpoint(str(service.vip), service.port)
    statement = Statement(NAME, f"servers answer the client as {vip}; no reply touches {service.director}")
    frames: list[int] = []
    packets = 0
    for served in connections:
        if served.destination is None:
            continue
        if not served.replies:
            return _silent(statement, evidence, served, served.destination.node)
        for walk in served.replies:
            fault = _fault(statement, evidence, served, walk, vip)
            if fault is not None:
                return fault
            packets += 1
        frames += (served.replies[0].origin.number, served.replies[0].hops[-1].number)
    if not packets:
        return statement.skipped("no request reached a server")
    return statement.passed(
        f"{count(packets, 'reply').replace('replys', 'replies')}, none at {service.director}", frames
    )


def _silent(statement: Statement, evidence: Evidence, served: Served, node: str) -> Result:
    arrival = next(hop for walk in served.requests for hop in walk.hops if hop.node == node)
    return statement.failed(
        f"{served.label}: {node} received it and never answered",
        where=arrival.where,
        frames=[arrival.number],
        cause=causes.silent_server(evidence, served.service, node),
    )


def _fault(statement: Statement, evidence: Evidence, served: Served, walk: Walk, vip: Endpoint) -> Result | None:
    origin, director = walk.origin, served.service.director
    touched = walk.at(director)
    if touched:
        return statement.failed(
            f"{served.label}: the reply of {origin.node} passed {director}",
            where=touched[0].where,
            frames=[hop.number for hop in touched],
            cause=causes.Cause(
                f"{origin.node} sends by way of {director}",
                f"give {origin.node} a default gateway other than {director}",
            ),
        )
    if origin.source != vip:
        return statement.failed(
            f"{served.label}: {origin.node} answered as {origin.source}",
            where=origin.where,
            frames=[origin.number],
            cause=causes.Cause("the answer does not come from the socket that was asked", f"ss -tn on {origin.node}"),
        )
    if not any(hop.node == served.client for hop in walk.receivers):
        end = walk.hops[-1]
        return statement.failed(
            f"{served.label}: the reply of {origin.node} was last seen at {end.node}",
            where=end.where,
            frames=[end.number],
            cause=causes.reply_lost(evidence, served.service, end),
        )
    return None
