"""HSipHash of one 32-bit word, as 64-bit kernels compute it: SipHash-1-3, cut to 32 bits (lib/siphash.c).

32-bit kernels use HalfSipHash instead, with other results.
"""

from __future__ import annotations

from typing import Final

_MASK: Final = (1 << 64) - 1
_START: Final = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_WORD_BYTES: Final = 4
_State = tuple[int, int, int, int]


def hsiphash(word: int, key: int) -> int:
    """Return the hash of a 32-bit number under a key both of whose halves are `key`."""
    v0, v1, v2, v3 = (start ^ key for start in _START)
    block = _WORD_BYTES << 56 | word
    v0, v1, v2, v3 = _round((v0, v1, v2, v3 ^ block))
    state = (v0 ^ block, v1, v2 ^ 0xFF, v3)
    for _ in range(3):
        state = _round(state)
    v0, v1, v2, v3 = state
    return (v0 ^ v1 ^ v2 ^ v3) & 0xFFFFFFFF


def _round(state: _State) -> _State:
    a, b, c, d = state
    a = (a + b) & _MASK
    b = _rotated(b, 13) ^ a
    a = _rotated(a, 32)
    c = (c + d) & _MASK
    d = _rotated(d, 16) ^ c
    a = (a + d) & _MASK
    d = _rotated(d, 21) ^ a
    c = (c + b) & _MASK
    b = _rotated(b, 17) ^ c
    c = _rotated(c, 32)
    return a, b, c, d


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK
