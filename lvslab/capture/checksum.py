"""The Internet checksum (RFC 1071), by the fact that 2**16 is 1 modulo 65535.

A big number modulo 65535 is the ones' complement sum of its 16-bit words, and Python divides big
numbers in C: a loop over the words takes fifty times as long.
"""

from __future__ import annotations

_MODULUS = 0xFFFF


def word_sum(data: bytes) -> int:
    """Return a number congruent to the ones' complement sum of the data, padded to an even length."""
    value = int.from_bytes(data, "big")
    return (value << 8 if len(data) % 2 else value) % _MODULUS


def is_valid(data: bytes, pseudo_header: int = 0) -> bool:
    """Tell whether data that contains its own checksum adds up to minus zero."""
    return adds_up(word_sum(data) + pseudo_header)


def adds_up(words: int) -> bool:
    """Tell whether a sum that includes the checksum is minus zero."""
    return words % _MODULUS == 0
