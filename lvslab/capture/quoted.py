"""The packet that an ICMP error quotes: which connection the error is about."""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.capture.ip import parse_ip
from lvslab.capture.packet import Icmp, Ip, Packet
from lvslab.capture.transport import ICMP, ICMPV6, SCTP, TCP, UDP

_ERRORS_V4 = frozenset({3, 4, 5, 11, 12})
"""RFC 792: unreachable, source quench, redirect, time exceeded, parameter problem."""
_ERRORS_V6 = range(1, 128)
"""RFC 4443 section 2.1: error messages have types below 128."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """At least 8 bytes of transport are quoted (RFC 792), so ports are known but a TCP header may be cut."""

    ip: Ip
    ports: tuple[int, int] | None
    invariant: bytes
    """The quoted transport bytes that address translation leaves alone: TCP's sequence number, UDP's length,
    SCTP's verification tag, an echo's identifier and sequence number."""


def is_icmp_error(packet: Packet) -> bool:
    if packet.ip is None or not isinstance(packet.transport, Icmp):
        return False
    return packet.transport.type in (_ERRORS_V4 if packet.ip.version == 4 else _ERRORS_V6)


def quoted(packet: Packet) -> Quoted | None:
    """Return what an ICMP error quotes, or None if the packet is no error or quotes nothing readable."""
    if not is_icmp_error(packet):
        return None
    data = packet.payload
    layer = parse_ip(data, 0, len(data))
    if layer is None or layer.end - layer.start < 8 or layer.header.fragment_offset:
        return None
    start, protocol = layer.start, layer.header.protocol
    ports = None
    if protocol in (TCP, UDP, SCTP):
        ports = (int.from_bytes(data[start : start + 2], "big"), int.from_bytes(data[start + 2 : start + 4], "big"))
    return Quoted(layer.header, ports, _invariant(data[start : start + 8], protocol))


def _invariant(transport: bytes, protocol: int) -> bytes:
    if protocol == UDP:
        return transport[4:6]
    if protocol in (TCP, SCTP, ICMP, ICMPV6):
        return transport[4:8]
    return transport
