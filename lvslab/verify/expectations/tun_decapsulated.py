"""VS/TUN, at the server: the outer header comes off, and the inner packet appears on the tunnel device, unchanged."""

from __future__ import annotations

from lvslab.topology.model import VirtualService
from lvslab.verify.causes.servers import silent_server
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.walk.model import Hop, Step, Walk

NAME = "tun-decapsulated"


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    statement = Statement(
        NAME, "each server unwraps the packet: the inner one comes out of its tunnel device unchanged"
    )
    frames: list[int] = []
    packets = 0
    for served in connections:
        for walk in served.requests:
            arrival = _wrapped_arrival(walk, served)
            if arrival is None:
                continue
            inner = _unwrapped(walk, arrival)
            if inner is None:
                return statement.failed(
                    f"{served.label}: the wrapped packet reached {arrival.node}, the inner one never appeared",
                    where=arrival.where,
                    frames=[arrival.number],
                    cause=silent_server(evidence, service, arrival.node),
                )
            packets += 1
            frames += (arrival.number, inner.number)
    if not packets:
        return statement.skipped("no wrapped packet reached a server")
    return statement.passed(f"{count(packets, 'packet')} unwrapped", frames)


def _wrapped_arrival(walk: Walk, served: Served) -> Hop | None:
    servers = {destination.node for destination in served.service.destinations}
    return next((hop for hop in walk.hops if hop.node in servers and hop.packet.tunnels), None)


def _unwrapped(walk: Walk, arrival: Hop) -> Hop | None:
    for hop in walk.at(arrival.node):
        if hop.step is Step.STACKED and hop.previous == arrival.number and not hop.packet.tunnels:
            same = hop.packet.transport == arrival.packet.transport and hop.packet.payload == arrival.packet.payload
            return hop if same and hop.packet.ip == arrival.packet.ip else None
    return None
