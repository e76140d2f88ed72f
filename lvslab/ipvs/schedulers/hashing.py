"""The hashes of dh, sh, lblc and lblcr, the kernel's and the papers'.

The papers multiply by 2654435761, near 2³² · 0.618 (the golden section), and keep the low bits of the product:
(key · 2654435761) & 255. The low eight bits of a product depend on the low eight bits of the key alone, so addresses
that differ only further up meet in one bucket.

The kernel multiplies by 0x61C88647 (2³² - 2654435769, GOLDEN_RATIO_32 of include/linux/hash.h) and keeps the high bits
(hash_32). An address is a number in host order; an IPv6 address is its four words exclusive-ored.
"""

from __future__ import annotations

from typing import Final

from lvslab.topology.model import Address

WORD: Final = 0xFFFFFFFF
_GOLDEN_RATIO_32: Final = 0x61C88647
_PAPERS_PRIME: Final = 2654435761


def fold(address: Address) -> int:
    """Return an address as one 32-bit number."""
    number = int(address)
    if address.version == 4:
        return number
    return (number >> 96 ^ number >> 64 ^ number >> 32 ^ number) & WORD


def hash_32(key: int, bits: int) -> int:
    """Return the kernel's hash of a number, `bits` long (include/linux/hash.h)."""
    return (key * _GOLDEN_RATIO_32 & WORD) >> (32 - bits)


def papers_hash(key: int, bits: int) -> int:
    """Return the papers' hash of a number, `bits` long."""
    return key * _PAPERS_PRIME & ((1 << bits) - 1)
