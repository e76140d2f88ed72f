"""One packet's hops, and the walks of one connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from lvslab.capture.frame import Direction, Frame
from lvslab.capture.packet import Endpoint, Packet

__all__ = ["Conversation", "Endpoint", "Hop", "Names", "Step", "Unmatched", "Walk", "Walks"]


NOT_SEEN_TO_LEAVE = "came in, but no node was seen to send it"
AMBIGUOUS = "could continue more than one packet: same content, and both still under way"


class Step(StrEnum):
    """How a packet came to a hop from the one before."""

    ORIGIN = "origin"
    """The first time it was seen."""
    CROSSED = "crossed"
    """Sent by one node, received by another (or by itself, over `lo`): the same bytes."""
    FORWARDED = "forwarded"
    """Received and sent on by one node, perhaps changed."""
    STACKED = "stacked"
    """Passed between two devices of one node: decapsulated or encapsulated by a tunnel device, or tagged."""


class Hop(NamedTuple):
    """One observation of a packet. Hops of the same bytes may share one `packet`."""

    frame: Frame
    packet: Packet
    step: Step
    previous: int | None
    """Number of the frame it came from; None at the origin. Several hops share one where a broadcast was received."""

    @property
    def number(self) -> int:
        return self.frame.number

    @property
    def node(self) -> str:
        return self.frame.node

    @property
    def interface(self) -> str:
        return self.frame.interface

    @property
    def where(self) -> str:
        return self.frame.where

    @property
    def direction(self) -> Direction:
        return self.frame.direction

    @property
    def time_ns(self) -> int:
        return self.frame.time_ns

    @property
    def source(self) -> Endpoint | None:
        """Sender in the innermost IP header, None without one."""
        return self.packet.source

    @property
    def destination(self) -> Endpoint | None:
        """Receiver in the innermost IP header, None without one."""
        return self.packet.destination


@dataclass(frozen=True, slots=True)
class Walk:
    """One packet from its origin to where it was last seen.

    Hops are in order of time. A packet that went round a loop visits a node more than once; a broadcast has
    one hop per receiver, all with the same `previous`.
    """

    hops: tuple[Hop, ...]
    overheard: tuple[Hop, ...] = ()
    """Where the packet passed by without being addressed to the node: a switch flooded it."""

    @property
    def origin(self) -> Hop:
        return self.hops[0]

    @property
    def ends(self) -> tuple[Hop, ...]:
        """Hops after which the packet was not seen again: one, or one per receiver of a broadcast."""
        continued = {hop.previous for hop in self.hops}
        return tuple(hop for hop in self.hops if hop.number not in continued)

    @property
    def receivers(self) -> tuple[Hop, ...]:
        """The ends at which a node took the packet in; empty if it was lost on a link."""
        return tuple(hop for hop in self.ends if hop.direction is Direction.IN)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Nodes on the way, each stay once, in order."""
        names: list[str] = []
        for hop in self.hops:
            if not names or names[-1] != hop.node:
                names.append(hop.node)
        return tuple(names)

    @property
    def frames(self) -> tuple[int, ...]:
        return tuple(hop.number for hop in self.hops)

    def at(self, node: str) -> tuple[Hop, ...]:
        return tuple(hop for hop in self.hops if hop.node == node)

    def before(self, hop: Hop) -> Hop | None:
        """Return the hop that `hop` came from."""
        return next((other for other in self.hops if other.number == hop.previous), None)


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Hops that belong together, but whose beginning could not be found; none if it was only overheard."""

    hops: tuple[Hop, ...]
    reason: str
    """NOT_SEEN_TO_LEAVE or AMBIGUOUS."""
    candidates: tuple[int, ...] = ()
    """Numbers of the frames it may continue, when there was more than one."""
    overheard: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """The walks of one connection, whatever addresses and ports it had on the way.

    `protocol` is `tcp`, `udp`, `icmp` (echo), `arp`, `nd` (neighbour discovery) or `other`.
    """

    protocol: str
    initiator: Endpoint | None
    """Who sent the first SYN, or else the first packet; None where there is no IP."""
    responder: Endpoint | None
    """Whom the initiator addressed, as it wrote it: the VIP."""
    requests: tuple[Walk, ...]
    """From the initiator's side."""
    replies: tuple[Walk, ...]
    errors: tuple[Walk, ...] = ()
    """ICMP errors that quote one of the connection's packets."""

    @property
    def walks(self) -> tuple[Walk, ...]:
        """All of them in order of time."""
        return tuple(sorted((*self.requests, *self.replies, *self.errors), key=lambda walk: walk.origin.number))


@dataclass(frozen=True, slots=True)
class Names:
    """What to call MAC and IP addresses."""

    macs: Mapping[str, str] = field(default_factory=dict)
    """Node by MAC."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """The node, or VIP, by IP address."""
    terms: Mapping[str, str] = field(default_factory=dict)
    """CIP, VIP, DIP, RIP1, … by IP address: what the LVS papers call it."""


@dataclass(frozen=True, slots=True)
class Walks:
    """All that could be made of a capture."""

    walks: tuple[Walk, ...]
    unmatched: tuple[Unmatched, ...]
    conversations: tuple[Conversation, ...]
    names: Names
