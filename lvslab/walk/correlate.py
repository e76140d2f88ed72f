"""Join hops into walks, one frame at a time in order of time.

A hop continues a walk in one of three ways: over a link, through a node, or between two devices of a node
(see `Step`). Only hops with the same `identity` are considered, and a hop that could continue two walks is
not given to either: it starts an `Unmatched` of its own. What comes in without having been seen to leave does
the same, so that what a node then does with it is still joined, and never passes for an origin.

Two things are not joined: what a fragmenting or reassembling node makes of a packet (fragments are walks of
their own), and frames that a switch's own ports show, which nobody addressed.

Each frame is looked at once, and ends that nothing continued within MAX_PAUSE_NS are dropped from the
search, so the time needed grows with the number of frames.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from lvslab.capture.frame import Direction, Frame, LinkType
from lvslab.capture.packet import Packet
from lvslab.walk.identity import identity, same_bytes
from lvslab.walk.model import Hop, Step, Unmatched, Walk

MAX_PAUSE_NS = 5_000_000_000
"""Longest time between two hops: longer than the 3 s for which Linux keeps a packet that waits for ARP (arp(7))."""

_RECENT = 8
"""Transmissions of the same bytes among which the one that was overheard is sought."""
_LISTED = 8
"""Candidates named in an ambiguity."""
_MULTICAST_BIT = 0x01

NOT_SEEN_TO_LEAVE = "came in, but no node was seen to send it"
AMBIGUOUS = "could continue more than one packet: same content, and both still under way"


@dataclass(slots=True, eq=False)
class _Track:
    """A walk being built; `reason` is set when its beginning is unknown."""

    hops: list[Hop] = field(default_factory=list)
    overheard: list[Hop] = field(default_factory=list)
    reason: str = ""
    candidates: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class _End:
    """The last hop of a track, or the sending hop of a broadcast, waiting for what continues it."""

    track: _Track
    hop: Hop
    group: bool
    """Sent to a broadcast or multicast MAC: may have many receivers."""
    open: bool = True
    received_at: set[str] = field(default_factory=set)
    overheard_at: set[str] = field(default_factory=set)


_Ends = list[_End]
_Key = TypeVar("_Key", bound=Hashable)


class Correlator:
    """Feed it frames in order of time with `add`; read `walks` and `unmatched` afterwards."""

    def __init__(self) -> None:
        self._tracks: list[_Track] = []
        self._on_link: dict[bytes, deque[_End]] = {}
        self._recent: dict[bytes, deque[_End]] = {}
        self._received: dict[tuple[Hashable, str, int], _Ends] = {}
        """By identity, node and number of tunnel headers."""
        self._sent: dict[tuple[Hashable, str], _Ends] = {}

    def add(self, frame: Frame, packet: Packet) -> None:
        if frame.direction is Direction.OVERHEARD:
            self._overhear(frame, packet)
        elif frame.direction is Direction.OUT:
            self._send(frame, packet, identity(packet))
        else:
            self._receive(frame, packet, identity(packet))

    @property
    def walks(self) -> tuple[Walk, ...]:
        return tuple(Walk(tuple(t.hops), tuple(t.overheard)) for t in self._tracks if not t.reason)

    @property
    def unmatched(self) -> tuple[Unmatched, ...]:
        return tuple(
            Unmatched(tuple(t.hops), t.reason, t.candidates, tuple(t.overheard)) for t in self._tracks if t.reason
        )

    def _send(self, frame: Frame, packet: Packet, key: Hashable) -> None:
        step, found = Step.FORWARDED, self._forwarders(frame, packet, key)
        if not found:
            step, found = Step.STACKED, self._upper_devices(frame, packet, key)
        end = self._continue(frame, packet, step, found, reason_if_none="")
        content = same_bytes(frame)
        if frame.link_type is LinkType.ETHERNET:
            self._transmit(content, end)
            self._recent.setdefault(content, deque(maxlen=_RECENT)).append(end)
        if packet.ip is not None:
            _append(self._sent, (key, frame.node), end)

    def _transmit(self, content: bytes, end: _End) -> None:
        ends = self._on_link.setdefault(content, deque())
        while ends and not _in_time(ends[0], end.hop.frame):
            ends.popleft()
        ends.append(end)

    def _receive(self, frame: Frame, packet: Packet, key: Hashable) -> None:
        step, found = Step.CROSSED, self._senders(frame)
        if not found:
            step, found = Step.STACKED, self._lower_devices(frame, packet, key)
        end = self._continue(frame, packet, step, found, reason_if_none=NOT_SEEN_TO_LEAVE)
        if packet.ip is not None:
            _append(self._received, (key, frame.node, len(packet.tunnels)), end)

    def _overhear(self, frame: Frame, packet: Packet) -> None:
        ends = self._recent.get(same_bytes(frame), ())
        found = [e for e in ends if frame.where not in e.overheard_at and _in_time(e, frame)]
        if len(found) == 1:
            found[0].overheard_at.add(frame.where)
            found[0].track.overheard.append(Hop(frame, packet, Step.CROSSED, found[0].hop.number))
            return
        track = self._unknown(found, reason_if_none=NOT_SEEN_TO_LEAVE)
        track.overheard.append(Hop(frame, packet, Step.ORIGIN, None))

    def _continue(self, frame: Frame, packet: Packet, step: Step, found: list[_End], *, reason_if_none: str) -> _End:
        """Append the frame to the one track found, or start another."""
        if len(found) == 1:
            before = found[0]
            _consume(before, frame)
            track, hop = before.track, Hop(frame, packet, step, before.hop.number)
        else:
            track, hop = self._unknown(found, reason_if_none=reason_if_none), Hop(frame, packet, Step.ORIGIN, None)
        track.hops.append(hop)
        return _End(track, hop, _is_group(frame))

    def _unknown(self, found: list[_End], *, reason_if_none: str) -> _Track:
        if found:
            candidates = tuple(sorted(end.hop.number for end in found[:_LISTED]))
            track = _Track(reason=AMBIGUOUS, candidates=candidates)
        else:
            track = _Track(reason=reason_if_none)
        self._tracks.append(track)
        return track

    def _senders(self, frame: Frame) -> list[_End]:
        """Who sent exactly these bytes, newest first, back to the last of which this interface received."""
        found: list[_End] = []
        from_itself = frame.interface == "lo"
        for end in reversed(self._on_link.get(same_bytes(frame), ())):
            # What was sent before it had been received or given up by then, or it would have been ambiguous.
            if frame.where in end.received_at or not _in_time(end, frame) or len(found) == _LISTED:
                break
            if end.open and (end.hop.where == frame.where) == from_itself:
                found.append(end)
        return found

    def _forwarders(self, frame: Frame, packet: Packet, key: Hashable) -> list[_End]:
        """What this node received and may now be sending on; a reply with the same content is not that."""
        received = [
            end
            for tunnels in range(len(packet.tunnels) + 2)
            for end in _current(self._received, (key, frame.node, tunnels), frame)
        ]
        answered = [end for end in received if _is_reply(end.hop.packet, packet)]
        found = [e for e in received if e not in answered and _may_be_forwarded(e.hop.packet, packet)]
        if answered and not found:
            answered[0].open = False
        return _nearest(found, packet)

    def _upper_devices(self, frame: Frame, packet: Packet, key: Hashable) -> list[_End]:
        """Which other device of the node sent this down: a tunnel, bridge or VLAN device."""
        return [
            end
            for end in _current(self._sent, (key, frame.node), frame)
            if end.hop.interface != frame.interface
            and (
                end.hop.frame.link_type is LinkType.RAW_IP
                or len(end.hop.packet.tunnels) < len(packet.tunnels)
                or same_bytes(end.hop.frame) == same_bytes(frame)
            )
            and _unchanged_but_ttl(end.hop.packet, packet)
        ]

    def _lower_devices(self, frame: Frame, packet: Packet, key: Hashable) -> list[_End]:
        """Which other device of the node received this first."""
        depth = len(packet.tunnels)
        return [
            end
            for tunnels in (depth, depth + 1)
            for end in _current(self._received, (key, frame.node, tunnels), frame)
            if end.hop.interface != frame.interface
            and (
                tunnels > depth or frame.link_type is LinkType.RAW_IP or same_bytes(end.hop.frame) == same_bytes(frame)
            )
            and _unchanged_but_ttl(end.hop.packet, packet)
        ]


def _append(index: dict[_Key, _Ends], key: _Key, end: _End) -> None:
    index.setdefault(key, []).append(end)


def _current(index: dict[_Key, _Ends], key: _Key, frame: Frame) -> _Ends:
    """Return the ends still waiting, and forget the others."""
    ends = index.get(key)
    if not ends:
        return []
    waiting = [end for end in ends if end.open and _in_time(end, frame)]
    if len(waiting) < len(ends):
        index[key] = waiting
    return waiting


def _in_time(end: _End, frame: Frame) -> bool:
    return frame.time_ns - end.hop.time_ns <= MAX_PAUSE_NS


def _consume(end: _End, frame: Frame) -> None:
    crossed_link = end.hop.direction is Direction.OUT and frame.direction is Direction.IN
    if crossed_link:
        end.received_at.add(frame.where)
    end.open = end.group and crossed_link


def _is_group(frame: Frame) -> bool:
    return frame.link_type is LinkType.ETHERNET and bool(frame.data[:1]) and bool(frame.data[0] & _MULTICAST_BIT)


def _ends_of(packet: Packet) -> tuple[tuple[str, int | None], tuple[str, int | None]]:
    if packet.ip is None:
        return ("", None), ("", None)
    source_port, destination_port = packet.ports or (None, None)
    return (packet.ip.source, source_port), (packet.ip.destination, destination_port)


def _is_reply(received: Packet, sent: Packet) -> bool:
    """A packet that goes back to whom the other came from, such as a UDP echo, is a new packet."""
    return _ends_of(sent)[1] == _ends_of(received)[0]


def _may_be_forwarded(received: Packet, sent: Packet) -> bool:
    """TTL never grows, and forwarding keeps the IP identification (RFC 6864 section 4).

    Where both ends changed, as in full NAT, the TTL must have fallen: a proxy's own packet starts anew.
    """
    if received.ip is None or sent.ip is None or received.ip.version != sent.ip.version:
        return False
    if sent.ip.ttl > received.ip.ttl or not _same_identification(received, sent):
        return False
    return sent.ip.ttl < received.ip.ttl or _kept_ends(received, sent) > 0


def _same_identification(one: Packet, other: Packet) -> bool:
    return one.ip is not None and other.ip is not None and one.ip.identification == other.ip.identification


def _kept_ends(received: Packet, sent: Packet) -> int:
    before, after = _ends_of(received), _ends_of(sent)
    return (before[0] == after[0]) + (before[1] == after[1])


def _unchanged_but_ttl(one: Packet, other: Packet) -> bool:
    return (
        one.ip is not None
        and other.ip is not None
        and other.ip.ttl <= one.ip.ttl
        and _same_identification(one, other)
        and _kept_ends(one, other) == 2
    )


def _nearest(found: list[_End], packet: Packet) -> list[_End]:
    """Of several candidates keep those whose addresses and ports changed least."""
    if len(found) < 2:
        return found
    kept = [_kept_ends(end.hop.packet, packet) for end in found]
    return [end for end, ends in zip(found, kept, strict=True) if ends == max(kept)]


def correlate(observations: Iterable[tuple[Frame, Packet]]) -> Correlator:
    """Return the correlator after all observations, which must be in order of time."""
    correlator = Correlator()
    for frame, packet in observations:
        correlator.add(frame, packet)
    return correlator
