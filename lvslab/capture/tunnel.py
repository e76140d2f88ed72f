"""Tunnel headers that IPVS and Linux tunnel devices put around an IP packet."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from struct import Struct
from typing import NamedTuple

from lvslab.capture.checksum import is_valid
from lvslab.capture.ip import IpLayer, parse_ip, parse_ipv4, parse_ipv6
from lvslab.capture.packet import Tunnel
from lvslab.capture.transport import UDP, udp_checksum_ok

_IPIP, _IPV6, _GRE = 4, 41, 47
_KINDS = {(4, _IPIP): "ipip", (4, _IPV6): "sit", (6, _IPV6): "ip6ip6", (6, _IPIP): "ip4ip6"}
_PARSERS = {_IPIP: parse_ipv4, _IPV6: parse_ipv6}

_GRE_HEADER = Struct(">HH")
_GRE_CHECKSUM, _GRE_KEY, _GRE_SEQUENCE = 0x8000, 0x2000, 0x1000
_GRE_UNSUPPORTED = 0x4FFF
"""Routing and the reserved bits of RFC 2784, and any version but 0."""
_GRE_PROTOCOLS = {0x0800: parse_ipv4, 0x86DD: parse_ipv6}

_UDP_HEADER = Struct(">HHHH")
_GUE_HEADER = Struct(">BBH")
_GUE_PRIVATE = 0x0001
_GUE_REMOTE_CHECKSUM = 0x80000000


class Peeled(NamedTuple):
    """One outer header taken off."""

    tunnel: Tunnel
    inner: IpLayer
    bad_checksum: str | None
    inner_checksum_remote: bool = False
    """GUE remote checksum offload: the receiver completes the inner transport checksum."""


def peel(data: bytes, outer: IpLayer, gue_ports: AbstractSet[int], judge: bool) -> Peeled | None:
    """Return what is inside if the outer packet is a tunnel's; a fragment of a tunnel packet is not opened."""
    if outer.is_fragment:
        return None
    protocol = outer.header.protocol
    if protocol in _PARSERS:
        inner = _PARSERS[protocol](data, outer.start, outer.end)
        kind = _KINDS[outer.header.version, protocol]
        return Peeled(Tunnel(kind, outer.header), inner, None) if inner else None
    if protocol == _GRE:
        return _gre(data, outer)
    if protocol == UDP:
        return _gue(data, outer, gue_ports, judge)
    return None


def _gre(data: bytes, outer: IpLayer) -> Peeled | None:
    """RFC 2784 with the key and sequence number of RFC 2890."""
    if outer.end - outer.start < _GRE_HEADER.size:
        return None
    flags, protocol = _GRE_HEADER.unpack_from(data, outer.start)
    parser = _GRE_PROTOCOLS.get(protocol)
    if flags & _GRE_UNSUPPORTED or parser is None:
        return None
    optional = sum(4 for flag in (_GRE_CHECKSUM, _GRE_KEY, _GRE_SEQUENCE) if flags & flag)
    inner = parser(data, outer.start + _GRE_HEADER.size + optional, outer.end)
    if inner is None:
        return None
    judged = flags & _GRE_CHECKSUM and outer.complete
    wrong = judged and not is_valid(data[outer.start : outer.end])
    return Peeled(Tunnel("gre", outer.header), inner, "gre" if wrong else None)


def _gue(data: bytes, outer: IpLayer, gue_ports: AbstractSet[int], judge: bool) -> Peeled | None:
    """Linux net/gue.h: version 0 with a header, version 1 where the IP header follows UDP at once."""
    gue_at = outer.start + _UDP_HEADER.size
    if outer.end - gue_at < _GUE_HEADER.size:
        return None
    source_port, destination_port, _, _ = _UDP_HEADER.unpack_from(data, outer.start)
    if destination_port not in gue_ports:
        return None
    inner, remote = _inside_gue(data, gue_at, outer.end)
    if inner is None:
        return None
    judged = judge and outer.transport_judgeable
    wrong = judged and not udp_checksum_ok(data, outer, zero_allowed=True)
    tunnel = Tunnel("gue", outer.header, (source_port, destination_port))
    return Peeled(tunnel, inner, "outer udp" if wrong else None, remote)


def _inside_gue(data: bytes, at: int, limit: int) -> tuple[IpLayer | None, bool]:
    first, protocol, flags = _GUE_HEADER.unpack_from(data, at)
    if first >> 6 == 1:
        return parse_ip(data, at, limit), False
    parser = _PARSERS.get(protocol)
    if first >> 5 != 0 or parser is None:  # another version, or a control message
        return None, False
    options_at = at + _GUE_HEADER.size
    inner_at = options_at + (first & 0x1F) * 4
    private = flags & _GUE_PRIVATE and inner_at <= limit and inner_at - options_at >= 4
    remote = bool(private and int.from_bytes(data[options_at : options_at + 4], "big") & _GUE_REMOTE_CHECKSUM)
    return parser(data, inner_at, limit), remote
