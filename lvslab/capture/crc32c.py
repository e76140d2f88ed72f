"""CRC32c, the Castagnoli polynomial: the checksum of SCTP (RFC 9260 appendix A)."""

from __future__ import annotations

_POLYNOMIAL = 0x82F63B78
"""Bits reversed, as the register shifts right."""
_ALL_ONES = 0xFFFFFFFF


def _entry(value: int) -> int:
    for _ in range(8):
        value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
    return value


_TABLE = tuple(map(_entry, range(256)))


def crc32c(data: bytes) -> int:
    """Return the checksum of `data`."""
    register = _ALL_ONES
    for byte in data:
        register = register >> 8 ^ _TABLE[(register ^ byte) & 0xFF]
    return register ^ _ALL_ONES
