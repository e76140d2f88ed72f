"""What was seen: one frame at one interface of one node, and a capture of many.

These records are all that ``walk`` and ``verify`` need, so a stored capture can be judged anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Direction(StrEnum):
    """Seen from the node: a frame comes in, goes out, or passes by without being addressed to it.

    ``OVERHEARD`` is the kernel's PACKET_OTHERHOST (packet(7)): a switch flooded a frame whose
    destination MAC is somebody else's.
    """

    IN = "in"
    OUT = "out"
    OVERHEARD = "overheard"


class LinkType(StrEnum):
    """What a frame of this interface begins with (pcapng LINKTYPE 1 and 101)."""

    ETHERNET = "ethernet"
    RAW_IP = "raw-ip"


class Fragment(NamedTuple):
    """A piece of a packet (RFC 791), in a frame of its own. `offset` and `size` are of its data, in bytes."""

    number: int
    """Of the frame."""
    identification: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes at one interface at one moment."""

    number: int
    """Position in the capture by time, from 1: the frame number tcpdump and Wireshark show."""
    time_ns: int
    """Nanoseconds since the epoch, the same clock for all nodes."""
    node: str
    interface: str
    direction: Direction
    link_type: LinkType
    data: bytes
    wire_bytes: int
    """Length on the wire; larger than ``len(data)`` only if the capture was cut short."""
    checksum_ready: bool = True
    """False when the kernel left the transport checksum to the (virtual) hardware: TP_STATUS_CSUMNOTREADY."""
    vlan: int | None = None
    """VLAN id that the receiving kernel had already stripped off (PACKET_AUXDATA)."""
    fragments: tuple[Fragment, ...] = ()
    """What it was put together from (:mod:`lvslab.capture.fragments`); empty for a frame as it was captured."""

    @property
    def where(self) -> str:
        return f"{self.node}:{self.interface}"


FrameFields = tuple[int, str, str, Direction, LinkType, bytes, int, bool, int | None]
"""A Frame's fields but its number, which is known only when all frames are in order."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Frames of all interfaces in order of time, and what the kernel says it could not record."""

    frames: tuple[Frame, ...]
    drops: Mapping[str, int] = field(default_factory=dict)
    """Frames lost, by node (PACKET_STATISTICS); nodes without loss may be absent."""
    comment: str = ""
    """Free text stored with the file; `lvslab verify --pcap` puts the rendered topology here."""

    @property
    def lost(self) -> int:
        return sum(self.drops.values())
