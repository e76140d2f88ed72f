"""What a frame shows, worked out once for all frames that show the same bytes.

A frame is seen at both ends of its link, within microseconds, so nearly every frame was looked at just before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from lvslab.capture.dissect import dissect_bytes
from lvslab.capture.frame import Frame, LinkType
from lvslab.capture.packet import Packet
from lvslab.walk.identity import identity, same_bytes
from lvslab.walk.names import is_group

_REMEMBERED = 256
"""Frames on the way at the same time, generously: what is looked at again after more than these costs time only."""


class Sight(NamedTuple):
    """What is the same wherever these bytes are seen."""

    packet: Packet
    identity: Hashable
    """See `lvslab.walk.identity`."""
    content: bytes
    """What a frame and its other end on the same link have in common."""
    depth: int
    """How many tunnel headers are outside."""
    to_group: bool
    """Sent to a broadcast or multicast MAC: may have many receivers."""


def make_observer(gue_ports: AbstractSet[int]) -> Callable[[Frame], Sight]:
    """Return a function that tells what a frame shows."""
    numbers: dict[Hashable, int] = {}

    @lru_cache(maxsize=_REMEMBERED)
    def look(data: bytes, link_type: LinkType, checksum_ready: bool) -> Sight:
        packet = dissect_bytes(data, link_type, checksum_ready, gue_ports)
        # A number in place of the key itself: it is hashed several times more.
        number = numbers.setdefault(identity(packet), len(numbers))
        to_group = packet.ethernet is not None and is_group(packet.ethernet.destination)
        return Sight(packet, number, same_bytes(data), len(packet.tunnels), to_group)

    return lambda frame: look(frame.data, frame.link_type, frame.checksum_ready)
