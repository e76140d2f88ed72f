"""Group walks into conversations: one connection, whatever its addresses and ports were on the way.

Two walks belong together when they share a flow (protocol and both ends, in either direction) at any of their
hops. A new SYN with another sequence number on the same flow begins another conversation: the port was reused. So does
an SCTP INIT with another initiate tag.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from lvslab.capture.packet import WITH_PORTS, Icmp, Packet
from lvslab.capture.quoted import quoted
from lvslab.capture.transport import SCTP, TCP, UDP
from lvslab.walk.identity import is_echo, opening_number
from lvslab.walk.model import Conversation, Endpoint, Walk

_NEIGHBOUR_DISCOVERY = frozenset({135, 136})
"""Neighbour solicitation and advertisement (RFC 4861)."""
_TARGET_BYTES = 16
_ECHO_REQUESTS = frozenset({8, 128})
_PROTOCOL_NAMES = {TCP: "tcp", UDP: "udp", SCTP: "sctp"}

_Flow = tuple[str, Hashable]


@dataclass(slots=True, eq=False)
class _Group:
    protocol: str
    walks: list[Walk] = field(default_factory=list)
    errors: list[Walk] = field(default_factory=list)
    opening: int | None = None
    """See `opening_number`: that of the packet that began it."""
    merged_into: _Group | None = None

    def root(self) -> _Group:
        group = self
        while group.merged_into is not None:
            group = group.merged_into
        return group


def group_conversations(walks: Iterable[Walk]) -> tuple[Conversation, ...]:
    """Return the conversations in order of their first walk."""
    by_flow: dict[_Flow, _Group] = {}
    groups: list[_Group] = []
    for walk in walks:
        flows = _flows(walk)
        known = _distinct(by_flow[flow].root() for flow in flows if flow in by_flow)
        opening = opening_number(walk.origin.packet)
        if not known or (opening is not None and all(group.opening not in (None, opening) for group in known)):
            group = _Group(protocol=flows[0][0])
            groups.append(group)
        else:
            group = _merge(known)
        group.opening = opening if group.opening is None else group.opening
        by_flow.update(dict.fromkeys(flows, group))
        (group.errors if quoted(walk.origin.packet) else group.walks).append(walk)
    return tuple(_conversation(group) for group in groups if group.merged_into is None)


def _distinct(groups: Iterable[_Group]) -> list[_Group]:
    return list(dict.fromkeys(groups))


def _merge(groups: list[_Group]) -> _Group:
    first, *others = groups
    for other in others:
        first.walks += other.walks
        first.errors += other.errors
        first.opening = other.opening if first.opening is None else first.opening
        other.merged_into = first
    return first


def _flows(walk: Walk) -> list[_Flow]:
    packets = [walk.origin.packet]
    packets += (hop.packet for hop in walk.hops[1:] if not _certainly_same_flow(hop.packet, packets[-1]))
    return list(dict.fromkeys(map(_flow, packets)))


def _certainly_same_flow(one: Packet, other: Packet) -> bool:
    """Tell cheaply what holds for nearly all hops of a walk; what ICMP quotes would have to be looked at."""
    if isinstance(one.transport, Icmp):
        return False
    return one.source == other.source and one.destination == other.destination


def _flow(packet: Packet) -> _Flow:
    if packet.arp is not None:
        return "arp", frozenset({packet.arp.sender_ip, packet.arp.target_ip})
    source, destination = packet.source, packet.destination
    if packet.ip is None or source is None or destination is None:
        return "other", packet.ethernet.ethertype if packet.ethernet else None
    about = quoted(packet)
    if about is not None and about.ports is not None:
        ends = frozenset({Endpoint(about.ip.source, about.ports[0]), Endpoint(about.ip.destination, about.ports[1])})
        return _PROTOCOL_NAMES[about.ip.protocol], ends
    if isinstance(packet.transport, WITH_PORTS):
        return _PROTOCOL_NAMES[packet.ip.protocol], frozenset({source, destination})
    return _portless_flow(packet, frozenset({source, destination}))


def _portless_flow(packet: Packet, ends: frozenset[Endpoint]) -> _Flow:
    if isinstance(packet.transport, Icmp):
        if is_echo(packet):
            return "icmp", (ends, packet.transport.rest >> 16)
        if packet.ip is not None and packet.ip.version == 6 and packet.transport.type in _NEIGHBOUR_DISCOVERY:
            return "nd", packet.payload[:_TARGET_BYTES]
    return "other", (packet.ip.protocol if packet.ip else None, ends)


def _conversation(group: _Group) -> Conversation:
    walks = sorted(group.walks, key=lambda walk: walk.origin.number)
    errors = tuple(sorted(group.errors, key=lambda walk: walk.origin.number))
    if not walks:
        return Conversation(group.protocol, None, None, (), (), errors)
    opening = next((walk for walk in walks if opening_number(walk.origin.packet) is not None), walks[0])
    requests, replies = _sides(walks, opening)
    initiator, responder = opening.origin.source, opening.origin.destination
    return Conversation(group.protocol, initiator, responder, requests, replies, errors)


def _sides(walks: list[Walk], opening: Walk) -> tuple[tuple[Walk, ...], tuple[Walk, ...]]:
    """Tell the initiator's packets from the others', by every address that its packets had on the way."""
    ours = _senders(opening)
    requests, replies = [], []
    for walk in walks:
        if _is_request(walk, ours):
            requests.append(walk)
            ours |= _senders(walk)
        else:
            replies.append(walk)
    return tuple(requests), tuple(replies)


def _senders(walk: Walk) -> set[Endpoint | None]:
    return {hop.packet.source for hop in walk.hops}


def _is_request(walk: Walk, ours: set[Endpoint | None]) -> bool:
    packet = walk.origin.packet
    if packet.arp is not None:
        return packet.arp.operation == 1
    if isinstance(packet.transport, Icmp):
        if is_echo(packet):
            return packet.transport.type in _ECHO_REQUESTS
        return packet.transport.type != 136
    return walk.origin.source in ours
