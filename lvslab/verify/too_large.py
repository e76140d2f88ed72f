"""Packets too large for a link on their way, and what their senders are told (RFC 1191, RFC 8201)."""

from __future__ import annotations

from collections.abc import Iterable

from lvslab.capture.packet import Icmp, Packet, Tcp
from lvslab.capture.quoted import quoted
from lvslab.verify.served import Served
from lvslab.walk.model import Walk

_TOO_LARGE = frozenset({(4, 3, 4), (6, 2, 0)})
"""IP version, type and code: fragmentation needed (RFC 792), packet too big (RFC 4443)."""


def next_mtu(packet: Packet) -> int | None:
    """Return the MTU that an ICMP error tells of; None if it is no such error."""
    icmp = packet.transport
    if packet.ip is None or not isinstance(icmp, Icmp) or (packet.ip.version, icmp.type, icmp.code) not in _TOO_LARGE:
        return None
    return icmp.rest & 0xFFFF if packet.ip.version == 4 else icmp.rest


def notices_of(walk: Walk, errors: Iterable[Walk]) -> tuple[Walk, ...]:
    """Return the errors saying that this packet was too large: by the packet that they quote."""
    return tuple(error for error in errors if _is_about(error.origin.packet, walk.origin.packet))


def was_refused(served: Served, walk: Walk) -> bool:
    """Tell a packet that somebody on the way did not send on because it was too large, and said so."""
    return bool(notices_of(walk, served.errors))


def _is_about(error: Packet, packet: Packet) -> bool:
    about = quoted(error)
    if about is None or packet.ip is None or next_mtu(error) is None:
        return False
    if (about.ip.version, about.ip.identification) != (packet.ip.version, packet.ip.identification):
        return False
    if isinstance(packet.transport, Tcp):
        return about.invariant == packet.transport.sequence.to_bytes(4, "big")
    return about.ip.protocol == packet.ip.protocol
