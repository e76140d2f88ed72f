"""The director's own counters agree with what was captured: two witnesses of the same packets.

Only counters that are immediate are used: the per-CPU totals of the namespace and the connection counts of
each server. Those that netlink reports per service lag by up to two seconds.
"""

from __future__ import annotations

from collections import Counter

from lvslab.capture.frame import Direction
from lvslab.ipvs.model import AddressKey, Stats
from lvslab.topology.model import VirtualService
from lvslab.verify.causes import Cause
from lvslab.verify.evidence import DirectorTable, Evidence
from lvslab.verify.expectations.base import Statement
from lvslab.verify.result import Result
from lvslab.verify.served import Served, served_connections
from lvslab.walk.model import Hop, Walk

NAME = "statistics"


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    statement = Statement(NAME, f"the counters of {service.director} agree with the capture")
    table = (evidence.tables or {}).get(service.director)
    if table is None:
        return statement.skipped("a stored capture does not hold the director's counters")
    differences = _totals(evidence, service, table) + _per_server(service, connections, table)
    if differences:
        return statement.failed(
            "; ".join(differences),
            where=service.director,
            cause=Cause(
                "traffic passed that was not captured, or the table was changed meanwhile", "ipvsadm -Ln --stats"
            ),
        )
    totals = table.totals
    return statement.passed(
        f"{totals.connections} connections, {totals.packets_in} packets in ({totals.bytes_in} bytes), "
        f"{totals.packets_out} out ({totals.bytes_out} bytes)",
        where=service.director,
    )


def _totals(evidence: Evidence, service: VirtualService, table: DirectorTable) -> list[str]:
    """Compare the whole namespace: all services of this director together."""
    captured = Stats()
    for other in evidence.topology.services:
        if other.director == service.director:
            captured = _sum(captured, _captured(served_connections(evidence, other), other))
    names = ("connections", "packets_in", "bytes_in", "packets_out", "bytes_out")
    pairs = [(name, getattr(table.totals, name), getattr(captured, name)) for name in names]
    return [
        f"{name.replace('_', ' ')}: {kernel} counted, {seen} captured" for name, kernel, seen in pairs if kernel != seen
    ]


def _captured(connections: tuple[Served, ...], service: VirtualService) -> Stats:
    """Count as the kernel does: packets that entered IPVS, and replies that it rewrote (NAT only)."""
    scheduled = [served for served in connections if served.through_director()]
    incoming = [hop for served in scheduled for walk in served.requests for hop in _forwarded_entries(walk, service)]
    outgoing = [hop for served in scheduled for walk in served.replies for hop in _forwarded_entries(walk, service)]
    return Stats(
        connections=len([served for served in scheduled if _forwarded_entries(served.opening, service)]),
        packets_in=len(incoming),
        packets_out=len(outgoing),
        bytes_in=sum(_ip_bytes(hop) for hop in incoming),
        bytes_out=sum(_ip_bytes(hop) for hop in outgoing),
    )


def _forwarded_entries(walk: Walk, service: VirtualService) -> list[Hop]:
    """Return the hops at which the director took the packet in and passed it on."""
    left = {hop.previous for hop in walk.at(service.director) if hop.direction is Direction.OUT}
    return [hop for hop in walk.at(service.director) if hop.number in left]


def _ip_bytes(hop: Hop) -> int:
    return hop.packet.ip.total_bytes if hop.packet.ip else 0


def _sum(one: Stats, other: Stats) -> Stats:
    return Stats(
        connections=one.connections + other.connections,
        packets_in=one.packets_in + other.packets_in,
        packets_out=one.packets_out + other.packets_out,
        bytes_in=one.bytes_in + other.bytes_in,
        bytes_out=one.bytes_out + other.bytes_out,
    )


def _per_server(service: VirtualService, connections: tuple[Served, ...], table: DirectorTable) -> list[str]:
    key = AddressKey(service.protocol, service.vip, service.port)
    entry = next((item for item in table.services if item.service.key == key), None)
    if entry is None:
        return [f"the service {key} is gone"]
    seen = Counter(
        (str(served.destination.address), served.destination.port)
        for served in connections
        if served.destination is not None and served.through_director()
    )
    differences = []
    for item in entry.destinations:
        counted = item.active + item.inactive
        captured = seen[str(item.destination.address), item.destination.port]
        if counted != captured:
            differences.append(f"{item.destination}: {counted} connections counted, {captured} captured")
    return differences
