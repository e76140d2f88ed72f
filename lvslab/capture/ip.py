"""IPv4 and IPv6 headers, found and checked inside a frame's bytes."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from lvslab.capture.addresses import ip_text
from lvslab.capture.checksum import is_valid, word_sum
from lvslab.capture.packet import Ip

_IPV4 = Struct(">BBHHHBBH8s")
_IPV6 = Struct(">IHBB32s")
_FRAGMENT = Struct(">BBHI")

_HOP_BY_HOP, _ROUTING, _FRAGMENT_HEADER, _AUTHENTICATION, _DESTINATION_OPTIONS = 0, 43, 44, 51, 60
_EXTENSIONS = frozenset({_HOP_BY_HOP, _ROUTING, _FRAGMENT_HEADER, _AUTHENTICATION, _DESTINATION_OPTIONS})


class IpLayer(NamedTuple):
    """A header and where its payload lies: ``data[start:end]``."""

    header: Ip
    start: int
    end: int
    addresses_sum: int
    complete: bool
    """Every byte that the header announces was captured."""
    checksum_ok: bool
    final_destination: bool
    """False while a routing header still names the destination that the transport checksum covers."""

    @property
    def is_fragment(self) -> bool:
        return self.header.more_fragments or self.header.fragment_offset > 0

    @property
    def transport_judgeable(self) -> bool:
        """Whether the transport checksum can be computed from what is here."""
        return self.complete and self.final_destination and not self.is_fragment


@lru_cache(maxsize=65536)
def _addresses(packed: bytes) -> tuple[str, str, int]:
    """Return source, destination, and their part of a pseudo header (RFC 9293 section 3.1, RFC 8200 section 8.1)."""
    half = len(packed) // 2
    return ip_text(packed[:half]), ip_text(packed[half:]), word_sum(packed)


def parse_ip(data: bytes, start: int, limit: int) -> IpLayer | None:
    """Return the header at ``start``, or None if there is none that makes sense before ``limit``."""
    if start >= limit:
        return None
    version = data[start] >> 4
    if version == 4:
        return parse_ipv4(data, start, limit)
    if version == 6:
        return parse_ipv6(data, start, limit)
    return None


def parse_ipv4(data: bytes, start: int, limit: int) -> IpLayer | None:
    """RFC 791. A total length of 0 is a segment larger than 64 KiB that offloading left whole."""
    if limit - start < _IPV4.size:
        return None
    first, tos, announced, identification, fragment, ttl, protocol, _, packed = _IPV4.unpack_from(data, start)
    payload = start + (first & 0xF) * 4
    total = announced or limit - start
    if first >> 4 != 4 or payload - start < _IPV4.size or payload > limit or start + total < payload:
        return None
    source, destination, addresses_sum = _addresses(packed)
    # Positional, in the order of the fields: half the time of keywords.
    header = Ip(
        4,
        source,
        destination,
        ttl,
        protocol,
        announced,
        identification,
        fragment & 0x4000 != 0,
        fragment & 0x2000 != 0,
        (fragment & 0x1FFF) * 8,
        tos,
    )
    end = min(start + total, limit)
    complete = start + total <= limit
    return IpLayer(header, payload, end, addresses_sum, complete, is_valid(data[start:payload]), True)


def parse_ipv6(data: bytes, start: int, limit: int) -> IpLayer | None:
    """RFC 8200, extension headers skipped. A payload length of 0 is a jumbogram or an unsplit segment."""
    if limit - start < _IPV6.size:
        return None
    first, announced, next_header, hop_limit, packed = _IPV6.unpack_from(data, start)
    if first >> 28 != 6:
        return None
    after_header = start + _IPV6.size
    wanted_end = after_header + announced if announced else limit
    end = min(wanted_end, limit)
    extensions = _skip_extensions(data, after_header, end, next_header)
    source, destination, addresses_sum = _addresses(packed)
    header = Ip(
        version=6,
        source=source,
        destination=destination,
        ttl=hop_limit,
        protocol=extensions.protocol,
        total_bytes=_IPV6.size + announced,
        identification=extensions.identification,
        dont_fragment=False,
        more_fragments=extensions.more_fragments,
        fragment_offset=extensions.fragment_offset,
        tos=first >> 20 & 0xFF,
    )
    return IpLayer(
        header,
        extensions.end,
        end,
        addresses_sum,
        wanted_end <= limit,
        True,
        extensions.final_destination,
    )


class _Extensions(NamedTuple):
    protocol: int
    end: int
    identification: int = 0
    more_fragments: bool = False
    fragment_offset: int = 0
    final_destination: bool = True


def _skip_extensions(data: bytes, at: int, limit: int, protocol: int) -> _Extensions:
    """Walk the chain; a header that is cut short stays as the protocol, with its bytes as the payload."""
    found = _Extensions(protocol, at)
    while found.protocol in _EXTENSIONS and limit - found.end >= _FRAGMENT.size:
        at = found.end
        size = _extension_size(found.protocol, data[at + 1])
        if at + size > limit:
            break
        if found.protocol == _FRAGMENT_HEADER:
            found = _fragment(data, at, found)
            if found.fragment_offset:
                break
        else:
            still_routed = found.protocol == _ROUTING and data[at + 3] > 0
            found = found._replace(
                protocol=data[at], end=at + size, final_destination=found.final_destination and not still_routed
            )
    return found


def _extension_size(protocol: int, length: int) -> int:
    if protocol == _FRAGMENT_HEADER:
        return 8
    if protocol == _AUTHENTICATION:  # counted in 4-byte units, minus 2: RFC 4302 section 2.2
        return (length + 2) * 4
    return (length + 1) * 8


def _fragment(data: bytes, at: int, found: _Extensions) -> _Extensions:
    protocol, _, offset_and_flag, identification = _FRAGMENT.unpack_from(data, at)
    return found._replace(
        protocol=protocol,
        end=at + _FRAGMENT.size,
        identification=identification,
        more_fragments=bool(offset_and_flag & 1),
        fragment_offset=offset_and_flag & 0xFFF8,
    )
