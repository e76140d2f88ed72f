"""A frame taken apart: link, tunnels, innermost IP header, transport and payload, as plain values.

Addresses are strings in their usual notation; MACs are lower-case and colon-separated.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ethernet:
    destination: str
    source: str
    ethertype: int


@dataclass(frozen=True, slots=True)
class Arp:
    """RFC 826. `operation` is 1 for a request, 2 for a reply."""

    operation: int
    sender_mac: str
    sender_ip: str
    target_mac: str
    target_ip: str


@dataclass(frozen=True, slots=True)
class Ip:
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


@dataclass(frozen=True, slots=True)
class Tunnel:
    """One outer header, outside the packet proper. `kind`: ipip, sit, ip6ip6, ip4ip6, gre or gue."""

    kind: str
    ip: Ip
    udp_ports: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Tcp:
    source_port: int
    destination_port: int
    sequence: int
    acknowledgment: int
    flags: str
    """Letters as tcpdump's: S, S., ., P., F., R, …"""
    window: int
    options: bytes


@dataclass(frozen=True, slots=True)
class Udp:
    source_port: int
    destination_port: int


@dataclass(frozen=True, slots=True)
class Icmp:
    """ICMP or ICMPv6: `rest` is the four bytes after the checksum (id and sequence of an echo, MTU of a need-frag)."""

    type: int
    code: int
    rest: int


@dataclass(frozen=True, slots=True)
class Packet:
    """Everything a walk or a verdict looks at. Parts that the frame does not have are None or empty."""

    ethernet: Ethernet | None
    arp: Arp | None
    tunnels: tuple[Tunnel, ...]
    """Outer headers, outermost first."""
    ip: Ip | None
    """The innermost IP header."""
    transport: Tcp | Udp | Icmp | None
    """None for other protocols, for fragments after the first, and for what is cut short."""
    payload: bytes
    """What follows the transport header (or the IP header where there is none)."""
    bad_checksums: tuple[str, ...] = ()
    """Headers whose checksum is wrong, e.g. ("ip", "tcp"); a checksum left to hardware is not judged."""

    @property
    def ports(self) -> tuple[int, int] | None:
        if isinstance(self.transport, Tcp | Udp):
            return self.transport.source_port, self.transport.destination_port
        return None
