"""How much a shaped card holds back before it drops."""

from __future__ import annotations

from math import ceil

from lvslab.topology.model import Shaping

FRAME_BYTES = 1514
"""A full Ethernet frame, without its checksum."""
QUEUE_MS = 100
FEWEST_PACKETS = 16
"""The first window of a TCP connection has ten (RFC 6928)."""
UNLIMITED_PACKETS = 10_000
"""Where there is a delay, but no rate."""


def queue_packets(shaping: Shaping) -> int:
    """Return how many full frames are sent in 100 ms, and in the delay."""
    if shaping.rate_bit_s is None:
        return UNLIMITED_PACKETS
    bits = shaping.rate_bit_s * (QUEUE_MS + shaping.delay_ms) / 1000
    return max(FEWEST_PACKETS, ceil(bits / (8 * FRAME_BYTES)))
