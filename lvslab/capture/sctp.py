"""SCTP packets: common header and chunks (RFC 9260 section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from lvslab.capture.addresses import ip_text
from lvslab.capture.crc32c import crc32c
from lvslab.capture.packet import Chunk, Sctp

DATA, INIT, INIT_ACK, SACK, HEARTBEAT, HEARTBEAT_ACK, ABORT, SHUTDOWN, SHUTDOWN_ACK, ERROR, COOKIE_ECHO, COOKIE_ACK = (
    range(12)
)
SHUTDOWN_COMPLETE = 14
CHUNK_NAMES = {
    DATA: "DATA",
    INIT: "INIT",
    INIT_ACK: "INIT ACK",
    SACK: "SACK",
    HEARTBEAT: "HEARTBEAT",
    HEARTBEAT_ACK: "HEARTBEAT ACK",
    ABORT: "ABORT",
    SHUTDOWN: "SHUTDOWN",
    SHUTDOWN_ACK: "SHUTDOWN ACK",
    ERROR: "ERROR",
    COOKIE_ECHO: "COOKIE ECHO",
    COOKIE_ACK: "COOKIE ACK",
    SHUTDOWN_COMPLETE: "SHUTDOWN COMPLETE",
}
"""RFC 9260 section 3.2, as tcpdump(1) prints them."""

_HEADER = Struct(">HHI")
_CHECKSUM = Struct("<I")
"""Its bytes are in the order in which the register holds them (RFC 9260 appendix A)."""
_HEADER_BYTES = _HEADER.size + _CHECKSUM.size
_TYPE_LENGTH_VALUE = Struct(">BBH")
_PARAMETER = Struct(">HH")
_DATA_FIELDS_BYTES = 12
"""TSN, stream, sequence number in it, and payload protocol, before the user data (section 3.3.1)."""
_INIT_FIELDS_BYTES = 16
"""Initiate tag, window, numbers of streams and TSN, before the parameters (section 3.3.2)."""
_ADDRESS_PARAMETERS = {5: 4, 6: 16}
"""Types of IPv4 and IPv6 Address (section 3.3.2.1), and the bytes of an address."""


class ParsedSctp(NamedTuple):
    sctp: Sctp
    checksum_ok: bool


@lru_cache(maxsize=1024)
def parse_sctp(data: bytes) -> ParsedSctp | None:
    """Read a packet from its first port on; None if it is cut short. Remembered: most hops leave all of it alone."""
    if len(data) < _HEADER_BYTES:
        return None
    source, destination, tag = _HEADER.unpack_from(data)
    (checksum,) = _CHECKSUM.unpack_from(data, _HEADER.size)
    sctp = Sctp(source, destination, tag, checksum, tuple(_chunks(data)))
    computed = crc32c(data[: _HEADER.size] + bytes(_CHECKSUM.size) + data[_HEADER_BYTES:])
    return ParsedSctp(sctp, checksum == computed)


def _chunks(data: bytes) -> Iterator[Chunk]:
    at = _HEADER_BYTES
    while at + _TYPE_LENGTH_VALUE.size <= len(data):
        kind, flags, length = _TYPE_LENGTH_VALUE.unpack_from(data, at)
        if not _TYPE_LENGTH_VALUE.size <= length <= len(data) - at:
            return
        yield Chunk(kind, flags, data[at + _TYPE_LENGTH_VALUE.size : at + length])
        at += _padded(length)


def _padded(length: int) -> int:
    """Chunks and parameters begin at multiples of four bytes."""
    return length + -length % 4


def user_data(sctp: Sctp) -> bytes:
    return b"".join(chunk.value[_DATA_FIELDS_BYTES:] for chunk in sctp.chunks if chunk.type == DATA)


def has_chunk(sctp: Sctp, kind: int) -> bool:
    return any(chunk.type == kind for chunk in sctp.chunks)


def initiate_tag(sctp: Sctp) -> int | None:
    """Return the tag that an INIT chose for its association, or None if it is no INIT."""
    found = next((chunk for chunk in sctp.chunks if chunk.type == INIT), None)
    return int.from_bytes(found.value[:4], "big") if found is not None and len(found.value) >= 4 else None


def offered_addresses(sctp: Sctp) -> tuple[str, ...]:
    """Return the addresses that an INIT or INIT ACK says its sender has, beside the one it comes from."""
    return tuple(
        ip_text(value)
        for chunk in sctp.chunks
        if chunk.type in (INIT, INIT_ACK)
        for kind, value in _parameters(chunk.value)
        if len(value) == _ADDRESS_PARAMETERS.get(kind)
    )


def _parameters(value: bytes) -> Iterator[tuple[int, bytes]]:
    at = _INIT_FIELDS_BYTES
    while at + _PARAMETER.size <= len(value):
        kind, length = _PARAMETER.unpack_from(value, at)
        if length < _PARAMETER.size:
            return
        yield kind, value[at + _PARAMETER.size : at + length]
        at += _padded(length)
