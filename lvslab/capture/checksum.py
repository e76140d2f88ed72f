"""The Internet checksum (RFC 1071), by the fact that 2**16 is 1 modulo 65535.

A big number modulo 65535 is the ones' complement sum of its 16-bit words, and Python divides big
numbers in C: a loop over the words takes fifty times as long.
"""

from __future__ import annotations

from functools import lru_cache

_MODULUS = 0xFFFF


def word_sum(data: bytes) -> int:
    """Return a number congruent to the ones' complement sum of the data, padded to an even length."""
    value = int.from_bytes(data, "big")
    return (value << 8 if len(data) % 2 else value) % _MODULUS


def is_valid(data: bytes, pseudo_header: int = 0) -> bool:
    """Tell whether data that contains its own checksum adds up to minus zero."""
    return (word_sum(data) + pseudo_header) % _MODULUS == 0


@lru_cache(maxsize=65536)
def address_sum(source_and_destination: bytes) -> int:
    """Return the addresses' part of a pseudo header (RFC 9293 section 3.1, RFC 8200 section 8.1)."""
    return word_sum(source_and_destination)
