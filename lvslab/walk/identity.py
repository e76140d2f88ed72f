"""What makes two observations the same packet: everything that routers, tunnels and IPVS leave alone."""

from __future__ import annotations

from collections.abc import Hashable

from lvslab.capture.packet import Icmp, Ip, Packet, Sctp, Tcp, Udp
from lvslab.capture.quoted import quoted
from lvslab.capture.sctp import initiate_tag

_TCP_END, _TCP_PADDING, _TCP_TIMESTAMPS = 0, 1, 8
_USUAL_LAYOUT = bytes((_TCP_PADDING, _TCP_PADDING, _TCP_TIMESTAMPS, 10))
"""RFC 7323 appendix A."""
_ECHO = frozenset({(4, 8), (4, 0), (6, 128), (6, 129)})


def identity(packet: Packet) -> Hashable:
    """Return a key that all observations of one packet share.

    Addresses, ports, TTL, MACs, tunnels and TCP options other than timestamps (a director may clamp the MSS)
    are not in it, nor is the IP identification of TCP, which is 0 on every SYN-ACK.
    """
    if packet.arp is not None:
        return packet.arp
    if packet.ip is None:
        return packet.ethernet.ethertype if packet.ethernet else None, packet.payload
    return _ip_identity(packet, packet.ip)


def _ip_identity(packet: Packet, ip: Ip) -> Hashable:
    transport = packet.transport
    if ip.more_fragments or ip.fragment_offset:
        return "fragment", ip.protocol, ip.identification, ip.fragment_offset, ip.more_fragments, packet.payload
    if isinstance(transport, Tcp):
        stamps = timestamps(transport.options)
        return "tcp", transport.sequence, transport.acknowledgment, transport.flags, stamps, packet.payload
    if isinstance(transport, Udp):
        return "udp", ip.identification, packet.payload
    if isinstance(transport, Sctp):
        return "sctp", ip.identification, transport.verification_tag, transport.chunks
    if isinstance(transport, Icmp):
        return _icmp(packet, transport)
    return ip.protocol, ip.identification, packet.payload


def timestamps(options: bytes) -> bytes:
    """Return the eight bytes of the TCP timestamps option (RFC 7323 section 3), or nothing."""
    if options[:4] == _USUAL_LAYOUT:
        return options[4:12]
    at = 0
    while at < len(options) and options[at] != _TCP_END:
        if options[at] == _TCP_PADDING:
            at += 1
            continue
        if at + 1 >= len(options) or options[at + 1] < 2:
            break
        if options[at] == _TCP_TIMESTAMPS:
            return options[at + 2 : at + 10]
        at += options[at + 1]
    return b""


def _icmp(packet: Packet, icmp: Icmp) -> Hashable:
    """Translation rewrites the addresses, ports and checksums inside the packet that an error quotes."""
    about = quoted(packet)
    if about is None:
        return "icmp", icmp.type, icmp.code, icmp.rest, packet.payload
    return "icmp error", icmp.type, icmp.code, about.ip.protocol, about.ip.identification, about.invariant


def opening_number(packet: Packet) -> int | None:
    """Return the number that tells the beginning of one connection from that of another on the same ports.

    It is the sequence number of a SYN or the initiate tag of an SCTP INIT; None if the packet is neither.
    """
    transport = packet.transport
    if isinstance(transport, Tcp):
        return transport.sequence if "S" in transport.flags and "." not in transport.flags else None
    return initiate_tag(transport) if isinstance(transport, Sctp) else None


def is_echo(packet: Packet) -> bool:
    """Tell an ICMP or ICMPv6 echo request or reply."""
    return (
        packet.ip is not None
        and isinstance(packet.transport, Icmp)
        and (packet.ip.version, packet.transport.type) in _ECHO
    )


def same_bytes(data: bytes) -> bytes:
    """Return what a frame and its other end on the same link have in common: all but VLAN tags.

    A tag is in the data or stripped off depending on the device that saw it.
    """
    if data[12:14] in (b"\x81\x00", b"\x88\xa8"):
        return data[:12] + data[16:]
    return data
