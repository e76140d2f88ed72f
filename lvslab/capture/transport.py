"""TCP, UDP, SCTP and ICMP headers, and whether their checksums are right."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from lvslab.capture.checksum import adds_up, is_valid, word_sum
from lvslab.capture.ip import IpLayer
from lvslab.capture.packet import Icmp, Sctp, Tcp, Udp
from lvslab.capture.sctp import parse_sctp, user_data

ICMP, TCP, UDP, ICMPV6, SCTP = 1, 6, 17, 58, 132

_TCP = Struct(">HHIIBBHHH")
_UDP = Struct(">HHHH")
_ICMP = Struct(">BBHI")

_TCP_FLAG_LETTERS = "FSRP.UEW"
"""From bit 0 upwards, as tcpdump(1) prints them."""


def _flags_text(bits: int) -> str:
    return "".join(letter for bit, letter in enumerate(_TCP_FLAG_LETTERS) if bits >> bit & 1) or "none"


_FLAGS = tuple(_flags_text(bits) for bits in range(256))


class Parsed(NamedTuple):
    transport: Tcp | Udp | Sctp | Icmp | None
    payload: bytes
    bad_checksum: str | None


def parse_transport(data: bytes, layer: IpLayer, judge: bool) -> Parsed:
    """Return the transport header behind an IP header; `judge` says whether its checksum counts."""
    judge = judge and layer.transport_judgeable
    parsed = None
    if not layer.header.fragment_offset:
        parser = _PARSERS.get(layer.header.protocol)
        parsed = parser(data, layer, judge) if parser else None
    return parsed or Parsed(None, data[layer.start : layer.end], None)


def _pseudo_header(layer: IpLayer, length: int) -> int:
    return layer.addresses_sum + layer.header.protocol + length


class _Segment(NamedTuple):
    tcp: Tcp
    payload: bytes
    words: int
    """See `word_sum`."""


def _tcp(data: bytes, layer: IpLayer, judge: bool) -> Parsed | None:
    segment = _segment(data[layer.start : layer.end])
    if segment is None:
        return None
    wrong = judge and not adds_up(segment.words + _pseudo_header(layer, layer.end - layer.start))
    return Parsed(segment.tcp, segment.payload, "tcp" if wrong else None)


@lru_cache(maxsize=1024)
def _segment(data: bytes) -> _Segment | None:
    """RFC 9293 section 3.1. Remembered, since all methods but NAT leave a segment as it is, hop after hop."""
    if len(data) < _TCP.size:
        return None
    source, destination, sequence, acknowledgment, offset, flags, window, _, _ = _TCP.unpack_from(data)
    payload_at = (offset >> 4) * 4
    if not _TCP.size <= payload_at <= len(data):
        return None
    options = data[_TCP.size : payload_at]
    tcp = Tcp(source, destination, sequence, acknowledgment, _FLAGS[flags], window, options)
    return _Segment(tcp, data[payload_at:], word_sum(data))


def _udp(data: bytes, layer: IpLayer, judge: bool) -> Parsed | None:
    """RFC 768."""
    if layer.end - layer.start < _UDP.size:
        return None
    source, destination, length, _ = _UDP.unpack_from(data, layer.start)
    end = min(layer.start + length, layer.end) if length >= _UDP.size else layer.end
    wrong = judge and not udp_checksum_ok(data, layer)
    return Parsed(Udp(source, destination), data[layer.start + _UDP.size : end], "udp" if wrong else None)


def udp_checksum_ok(data: bytes, layer: IpLayer, *, zero_allowed: bool | None = None) -> bool:
    """Judge a UDP header; zero means "none", which IPv6 allows for tunnels only (RFC 8200 8.1, RFC 6935)."""
    _, _, length, checksum = _UDP.unpack_from(data, layer.start)
    if checksum == 0:
        return layer.header.version == 4 if zero_allowed is None else zero_allowed
    # A length of 0 is a jumbogram or an unsplit segment (RFC 2675 section 4).
    end = layer.start + length if length else layer.end
    return end <= layer.end and is_valid(data[layer.start : end], _pseudo_header(layer, end - layer.start))


def _icmp(data: bytes, layer: IpLayer, judge: bool) -> Parsed | None:
    """RFC 792, and RFC 4443 where a pseudo header is summed too."""
    start, end = layer.start, layer.end
    if end - start < _ICMP.size:
        return None
    kind, code, _, rest = _ICMP.unpack_from(data, start)
    pseudo = _pseudo_header(layer, end - start) if layer.header.protocol == ICMPV6 else 0
    wrong = judge and not is_valid(data[start:end], pseudo)
    return Parsed(Icmp(kind, code, rest), data[start + _ICMP.size : end], "icmp" if wrong else None)


def _sctp(data: bytes, layer: IpLayer, judge: bool) -> Parsed | None:
    """The checksum covers no address, so that there is no pseudo header (RFC 9260 section 6.8)."""
    found = parse_sctp(data[layer.start : layer.end])
    if found is None:
        return None
    sctp = found.sctp if judge else found.sctp._replace(checksum=None)
    return Parsed(sctp, user_data(sctp), "sctp" if judge and not found.checksum_ok else None)


_PARSERS = {SCTP: _sctp, TCP: _tcp, UDP: _udp, ICMP: _icmp, ICMPV6: _icmp}
