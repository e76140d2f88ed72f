"""The director's own counters agree with what was captured: two witnesses of the same packets.

Only counters that are immediate are used: the totals of the namespace, summed over CPUs, and the connection counts
of each server; those that netlink reports per service lag by up to two seconds. Nothing resets the totals while a
namespace lives, so what they were before the traffic is subtracted. Connection counts include earlier connections
that linger: in a table that was used before, the entries of the drive's own connections are compared instead.

Where others sent something meanwhile, the director has counted at least what was captured of the drive.

Where ICMP errors were relayed, packets and bytes are not compared either: the kernel counts an error about a
wrapped packet twice, once as it comes and once as it is sent on (ip_vs_core.c: ip_vs_in_icmp).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

from lvslab.capture.frame import Direction
from lvslab.ipvs.intent import entry_of, key_of
from lvslab.ipvs.model import Stats
from lvslab.topology.model import VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import NOTHING, DirectorTable, Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.others import count_of_others, own_connections
from lvslab.verify.result import Result
from lvslab.verify.served import Served, served_connections, served_together
from lvslab.walk.model import Hop, Walk

NAME = "statistics"
VOLUME = ("packets_in", "bytes_in", "packets_out", "bytes_out")


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    director = service.director
    statement = Statement(NAME, f"the counters of {director} agree with the capture")
    table = (evidence.tables or {}).get(director)
    if table is None:
        return statement.skipped("a stored capture does not hold the director's counters")
    everything = own_connections(evidence, _of_director(evidence, director))
    swallowed = sum(served.swallowed for served in everything)
    if swallowed:
        return statement.skipped(f"{director} counted {count(swallowed, 'connection')} of which it sent nothing on")
    counted, captured = _difference(table.totals, table.earlier), _captured(everything)
    compared = _comparable(everything)
    others = count_of_others(evidence, director)
    differences = [
        f"{name.replace('_', ' ')}: {kernel} counted, {seen} captured"
        for name in compared
        if (kernel := getattr(counted, name)) < (seen := getattr(captured, name)) or (kernel > seen and not others)
    ]
    differences += _per_connection(connections, table)
    if evidence.begins_afresh:
        differences += _per_server(service, own_connections(evidence, served_together(evidence, service)), table)
    if differences:
        return statement.failed(
            "; ".join(differences),
            where=director,
            cause=Cause(
                "traffic passed that was not captured, or the table was changed meanwhile",
                f"on {director}: ipvsadm -Ln --stats",
            ),
        )
    if counted == captured == NOTHING:
        return statement.skipped(f"{director} gave no connection to a server, and counted none")
    said = f"counted, besides {count(others, 'connection')} of others: " if others else "both say "
    return statement.passed(said + _volume(captured, compared), where=director)


def _comparable(connections: tuple[Served, ...]) -> tuple[str, ...]:
    errors = any(walk.at(served.service.director) for served in connections for walk in served.errors)
    return ("connections", *(() if errors else VOLUME))


def _volume(captured: Stats, compared: tuple[str, ...]) -> str:
    """Return ``5 connections, 25 packets in, …`` of what was compared."""
    return ", ".join(f"{getattr(captured, name)} {name.replace('_', ' ')}" for name in compared)


def _of_director(evidence: Evidence, director: str) -> tuple[Served, ...]:
    """Return the connections of all services of a director: the totals are of the whole namespace."""
    return tuple(
        served
        for service in evidence.topology.services
        if service.director == director
        for served in served_connections(evidence, service)
    )


def _difference(after: Stats, before: Stats) -> Stats:
    return Stats(*(getattr(after, field.name) - getattr(before, field.name) for field in fields(Stats)))


def _captured(connections: tuple[Served, ...]) -> Stats:
    """Count as the kernel does: packets that entered IPVS, and replies that it rewrote (NAT only).

    It knows no reply to a datagram that was scheduled by itself.
    """
    known = [served for served in connections if not served.service.one_packet]
    incoming = [hop for served in connections for walk in served.requests for hop in _passed_on(walk, served)]
    outgoing = [hop for served in known for walk in served.replies for hop in _passed_on(walk, served)]
    return Stats(
        connections=len([served for served in connections if served.chosen is not None]),
        packets_in=len(incoming),
        packets_out=len(outgoing),
        bytes_in=sum(map(_ip_bytes, incoming)),
        bytes_out=sum(map(_ip_bytes, outgoing)),
    )


def _passed_on(walk: Walk, served: Served) -> list[Hop]:
    """Return the hops at which the director took the packet in and passed it on."""
    at_director = walk.at(served.service.director)
    if served.client == served.service.director or served.kept:
        return _begun_or_ended(walk, served, at_director)
    left = {hop.previous for hop in at_director if hop.direction is Direction.OUT}
    return [hop for hop in at_director if hop.number in left]


def _begun_or_ended(walk: Walk, served: Served, at_director: tuple[Hop, ...]) -> list[Hop]:
    """Return the hop at which the director itself sent a packet of the connection, or took one in.

    What it drops as a martian never comes to IPVS; then no answer is taken at all.
    """
    if walk in served.replies and not served.answered and not served.kept:
        return []
    ends = (walk.origin, *walk.receivers)
    return [hop for hop in at_director if hop in ends][:1]


def _ip_bytes(hop: Hop) -> int:
    return hop.packet.ip.total_bytes if hop.packet.ip else 0


def _per_connection(connections: tuple[Served, ...], table: DirectorTable) -> list[str]:
    """Compare the servers in the connection table with those seen; an entry may have expired already."""
    entries = {
        (entry.protocol.lower(), str(entry.client), entry.client_port, str(entry.virtual), entry.virtual_port): entry
        for entry in table.connections
    }
    differences = []
    for served in connections:
        initiator, service, chosen = served.conversation.initiator, served.service, served.chosen
        if initiator is None or chosen is None:
            continue
        key = service.protocol.value, initiator.address, initiator.port or 0, str(service.vip), service.port
        entry = entries.get(key)
        if entry is not None and (entry.destination, entry.destination_port) != (chosen.address, chosen.port):
            held = f"{entry.destination}:{entry.destination_port}"
            differences.append(f"{served.label}: {held} in the table, {chosen.node} captured")
    return differences


def _per_server(service: VirtualService, connections: tuple[Served, ...], table: DirectorTable) -> list[str]:
    """Compare the counts; of one-packet scheduling the table keeps nothing, and destinations of a mark have port 0."""
    entry = entry_of(table.services, service)
    if entry is None:
        return [f"the service {key_of(service)} is gone"]
    chosen = [served.chosen for served in connections if served.chosen is not None and not service.one_packet]
    seen = Counter((item.address, item.port if service.mark is None else 0) for item in chosen)
    differences = []
    for item in entry.destinations:
        counted = item.active + item.inactive
        captured = seen[item.destination.address, item.destination.port]
        if counted != captured:
            differences.append(f"{item.destination}: {counted} connections counted, {captured} captured")
    return differences
