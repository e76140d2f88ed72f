"""A frame taken apart: link, tunnels, innermost IP header, transport and payload, as plain values.

Addresses are strings in their usual notation; MACs are lower-case and colon-separated. Named tuples, since a
capture makes millions of them and a frozen dataclass takes four times as long to make.
"""

from __future__ import annotations

from typing import NamedTuple


class Ethernet(NamedTuple):
    destination: str
    source: str
    ethertype: int


class Arp(NamedTuple):
    """RFC 826. `operation` is 1 for a request, 2 for a reply."""

    operation: int
    sender_mac: str
    sender_ip: str
    target_mac: str
    target_ip: str


class Ip(NamedTuple):
    """An IPv4 (RFC 791) or IPv6 (RFC 8200) header; fields IPv6 lacks are 0 or False."""

    version: int
    source: str
    destination: str
    ttl: int
    """TTL, or hop limit."""
    protocol: int
    """Protocol of what follows, IPv6 extension headers skipped."""
    total_bytes: int
    """Header and payload, as the header itself says."""
    identification: int
    dont_fragment: bool
    more_fragments: bool
    fragment_offset: int
    tos: int


class Tunnel(NamedTuple):
    """One outer header, outside the packet proper. `kind`: ipip, sit, ip6ip6, ip4ip6, gre or gue."""

    kind: str
    ip: Ip
    udp_ports: tuple[int, int] | None = None


class Tcp(NamedTuple):
    source_port: int
    destination_port: int
    sequence: int
    acknowledgment: int
    flags: str
    """Letters as tcpdump's: S, S., ., P., F., R, …"""
    window: int
    options: bytes


class Udp(NamedTuple):
    source_port: int
    destination_port: int


class Chunk(NamedTuple):
    """One chunk of an SCTP packet (RFC 9260 section 3.2), without its padding."""

    type: int
    flags: int
    value: bytes


class Sctp(NamedTuple):
    """RFC 9260 section 3.1. The packet's payload is the user data of its DATA chunks, one after the other."""

    source_port: int
    destination_port: int
    verification_tag: int
    checksum: int | None
    """CRC32c; None where the kernel left it to hardware."""
    chunks: tuple[Chunk, ...]


WITH_PORTS = (Tcp, Udp, Sctp)


class Icmp(NamedTuple):
    """ICMP or ICMPv6: `rest` is the four bytes after the checksum (id and sequence of an echo, MTU of a need-frag)."""

    type: int
    code: int
    rest: int


class Endpoint(NamedTuple):
    """One end of a packet: address and, for TCP, UDP and SCTP, port."""

    address: str
    port: int | None

    def __str__(self) -> str:
        if self.port is None:
            return self.address
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


class Packet(NamedTuple):
    """Everything a walk or a verdict looks at. Parts that the frame does not have are None or empty."""

    ethernet: Ethernet | None
    arp: Arp | None
    tunnels: tuple[Tunnel, ...]
    """Outer headers, outermost first."""
    ip: Ip | None
    """The innermost IP header."""
    transport: Tcp | Udp | Sctp | Icmp | None
    """None for other protocols, for fragments after the first, and for what is cut short."""
    payload: bytes
    """What follows the transport header (or the IP header where there is none)."""
    bad_checksums: tuple[str, ...] = ()
    """Headers whose checksum is wrong, e.g. ("ip", "tcp"); a checksum left to hardware is not judged."""
    source: Endpoint | None = None
    """Sender in the innermost IP header, None without one."""
    destination: Endpoint | None = None
    """Receiver in the innermost IP header, None without one."""

    @property
    def ports(self) -> tuple[int, int] | None:
        transport = self.transport
        if isinstance(transport, WITH_PORTS):
            return transport.source_port, transport.destination_port
        return None
