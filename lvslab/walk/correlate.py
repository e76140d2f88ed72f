"""Join hops into walks, one frame at a time in order of time.

A hop continues a walk in one of three ways: over a link, through a node, or between two devices of a node
(see `Step`). Only hops with the same `identity` are considered, and a hop that could continue two walks is
not given to either: it starts an `Unmatched` of its own. What comes in without having been seen to leave does
the same, so that what a node then does with it is still joined, and never passes for an origin.

A packet in fragments comes here as one hop, put together before (`lvslab.capture.fragments`); fragments of which
some are missing are walks of their own. Not joined are frames that a switch's own ports show, which nobody addressed.

Each frame is looked at once, and ends that nothing continued within MAX_PAUSE_NS are dropped from the
search, so the time needed grows with the number of frames.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from itertools import islice

from lvslab.capture.frame import Direction, Frame, LinkType
from lvslab.walk.model import AMBIGUOUS, NOT_SEEN_TO_LEAVE, Hop, Step, Unmatched, Walk
from lvslab.walk.sight import Sight

MAX_PAUSE_NS = 5_000_000_000
"""Longest time between two hops: longer than the 3 s for which Linux keeps a packet that waits for ARP (arp(7))."""

_RECENT = 8
"""Transmissions of the same bytes among which the one that was overheard is sought."""
_LISTED = 8
"""Candidates named in an ambiguity."""
_IN, _OUT, _ETHERNET = Direction.IN, Direction.OUT, LinkType.ETHERNET
"""Looked up for every frame, and an enumeration looks its members up slowly."""


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
    sight: Sight
    open: bool = True
    received_at: frozenset[str] = frozenset()
    overheard_at: frozenset[str] = frozenset()


_Ends = list[_End]
_Index = dict[tuple[Hashable, str], _Ends]
"""By identity and node."""


class Correlator:
    """Feed it frames in order of time with `add`; read `walks` and `unmatched` afterwards."""

    def __init__(self) -> None:
        self._tracks: list[_Track] = []
        self._on_link: dict[bytes, _Ends] = {}
        self._received: _Index = {}
        self._sent: _Index = {}

    def add(self, frame: Frame, sight: Sight) -> None:
        if frame.direction is _IN:
            self._receive(frame, sight)
        elif frame.direction is _OUT:
            self._send(frame, sight)
        else:
            self._overhear(frame, sight)

    @property
    def walks(self) -> tuple[Walk, ...]:
        return tuple(Walk(tuple(t.hops), tuple(t.overheard)) for t in self._tracks if not t.reason)

    @property
    def unmatched(self) -> tuple[Unmatched, ...]:
        return tuple(
            Unmatched(tuple(t.hops), t.reason, t.candidates, tuple(t.overheard)) for t in self._tracks if t.reason
        )

    def _send(self, frame: Frame, sight: Sight) -> None:
        step, found = Step.FORWARDED, self._forwarders(frame, sight)
        if not found:
            step, found = Step.STACKED, self._upper_devices(frame, sight)
        end = self._continue(frame, sight, step, found, reason_if_none="")
        if frame.link_type is _ETHERNET:
            self._transmit(end)
        if sight.packet.ip is not None:
            self._sent.setdefault((sight.identity, frame.node), []).append(end)

    def _transmit(self, end: _End) -> None:
        ends = self._on_link.setdefault(end.sight.content, [])
        if ends and not _in_time(ends[0], end.hop.frame):
            ends[:] = [earlier for earlier in ends if _in_time(earlier, end.hop.frame)]
        ends.append(end)

    def _receive(self, frame: Frame, sight: Sight) -> None:
        step, found = Step.CROSSED, self._senders(frame, sight)
        if not found:
            step, found = Step.STACKED, self._lower_devices(frame, sight)
        end = self._continue(frame, sight, step, found, reason_if_none=NOT_SEEN_TO_LEAVE)
        if sight.packet.ip is not None:
            self._received.setdefault((sight.identity, frame.node), []).append(end)

    def _overhear(self, frame: Frame, sight: Sight) -> None:
        recent = islice(reversed(self._on_link.get(sight.content, ())), _RECENT)
        found = [end for end in recent if frame.where not in end.overheard_at and _in_time(end, frame)]
        if len(found) == 1:
            found[0].overheard_at |= {frame.where}
            found[0].track.overheard.append(Hop(frame, sight.packet, Step.CROSSED, found[0].hop.number))
            return
        track = self._unknown(found, reason_if_none=NOT_SEEN_TO_LEAVE)
        track.overheard.append(Hop(frame, sight.packet, Step.ORIGIN, None))

    def _continue(self, frame: Frame, sight: Sight, step: Step, found: _Ends, *, reason_if_none: str) -> _End:
        """Append the frame to the one track found, or start another."""
        if len(found) == 1:
            before = found[0]
            _consume(before, frame)
            track, hop = before.track, Hop(frame, sight.packet, step, before.hop.number)
        else:
            track = self._unknown(found, reason_if_none=reason_if_none)
            hop = Hop(frame, sight.packet, Step.ORIGIN, None)
        track.hops.append(hop)
        return _End(track, hop, sight)

    def _unknown(self, found: _Ends, *, reason_if_none: str) -> _Track:
        if found:
            candidates = tuple(sorted(end.hop.number for end in found[:_LISTED]))
            track = _Track(reason=AMBIGUOUS, candidates=candidates)
        else:
            track = _Track(reason=reason_if_none)
        self._tracks.append(track)
        return track

    def _senders(self, frame: Frame, sight: Sight) -> _Ends:
        """Who sent exactly these bytes, newest first, back to the last of which this interface received."""
        found: _Ends = []
        where = frame.where
        from_itself = frame.interface == "lo"
        for end in reversed(self._on_link.get(sight.content, ())):
            # What was sent before it had been received or given up by then, or it would have been ambiguous.
            if where in end.received_at or not _in_time(end, frame) or len(found) == _LISTED:
                break
            if end.open and _is_at(end, frame) == from_itself:
                found.append(end)
        return found

    def _forwarders(self, frame: Frame, sight: Sight) -> _Ends:
        """What this node received and may now be sending on; a reply with the same content is not that."""
        received = [end for end in _current(self._received, frame, sight) if end.sight.depth <= sight.depth + 1]
        if not received:
            return []
        answered = [end for end in received if _is_reply(end.sight, sight)]
        found = [end for end in received if end not in answered and _may_be_forwarded(end.sight, sight)]
        if answered and not found:
            answered[0].open = False
        return _nearest(found, sight)

    def _upper_devices(self, frame: Frame, sight: Sight) -> _Ends:
        """Which other device of the node sent this down: a tunnel, bridge or VLAN device."""
        return [
            end
            for end in _current(self._sent, frame, sight)
            if end.hop.interface != frame.interface
            and (
                end.hop.frame.link_type is LinkType.RAW_IP
                or end.sight.depth < sight.depth
                or end.sight.content == sight.content
            )
            and _unchanged_but_ttl(end.sight, sight)
        ]

    def _lower_devices(self, frame: Frame, sight: Sight) -> _Ends:
        """Which other device of the node received this first."""
        return [
            end
            for end in _current(self._received, frame, sight)
            if end.hop.interface != frame.interface
            and _may_be_lower(end.sight, sight, frame.link_type)
            and _unchanged_but_ttl(end.sight, sight)
        ]


def _may_be_lower(lower: Sight, upper: Sight, link_type: LinkType) -> bool:
    """A tunnel device took a header off, or else it is the same frame, perhaps without its Ethernet header."""
    if lower.depth == upper.depth:
        return link_type is LinkType.RAW_IP or lower.content == upper.content
    return lower.depth == upper.depth + 1


def _current(index: _Index, frame: Frame, sight: Sight) -> _Ends:
    """Return the ends of the same packet still waiting in this node, and forget the others."""
    key = sight.identity, frame.node
    ends = index.get(key)
    if not ends:
        return []
    waiting = [end for end in ends if end.open and _in_time(end, frame)]
    if len(waiting) < len(ends):
        index[key] = waiting
    return waiting


def _is_at(end: _End, frame: Frame) -> bool:
    """Tell whether both were seen at the same interface."""
    before = end.hop.frame
    return before.interface == frame.interface and before.node == frame.node


def _in_time(end: _End, frame: Frame) -> bool:
    return frame.time_ns - end.hop.frame.time_ns <= MAX_PAUSE_NS


def _consume(end: _End, frame: Frame) -> None:
    crossed_link = frame.direction is _IN and end.hop.frame.direction is _OUT
    if crossed_link:
        end.received_at |= {frame.where}
    end.open = crossed_link and end.sight.to_group


def _is_reply(received: Sight, sent: Sight) -> bool:
    """A packet that goes back to whom the other came from, such as a UDP echo, is a new packet."""
    return sent.packet.destination == received.packet.source


def _may_be_forwarded(received: Sight, sent: Sight) -> bool:
    """TTL never grows, and forwarding keeps the IP identification (RFC 6864 section 4).

    Where both ends changed, as in full NAT, the TTL must have fallen: a proxy's own packet starts anew.
    """
    before, after = received.packet.ip, sent.packet.ip
    if before is None or after is None or before.version != after.version:
        return False
    if after.ttl > before.ttl or after.identification != before.identification:
        return False
    return after.ttl < before.ttl or _kept_ends(received, sent) > 0


def _kept_ends(one: Sight, other: Sight) -> int:
    before, after = one.packet, other.packet
    return (before.source == after.source) + (before.destination == after.destination)


def _unchanged_but_ttl(one: Sight, other: Sight) -> bool:
    before, after = one.packet.ip, other.packet.ip
    return (
        before is not None
        and after is not None
        and after.ttl <= before.ttl
        and after.identification == before.identification
        and _kept_ends(one, other) == 2
    )


def _nearest(found: _Ends, sight: Sight) -> _Ends:
    """Of several candidates keep those whose addresses and ports changed least."""
    if len(found) < 2:
        return found
    kept = [_kept_ends(end.sight, sight) for end in found]
    return [end for end, ends in zip(found, kept, strict=True) if ends == max(kept)]


def correlate(observations: Iterable[tuple[Frame, Sight]]) -> Correlator:
    """Return the correlator after all observations, which must be in order of time."""
    correlator = Correlator()
    for frame, sight in observations:
        correlator.add(frame, sight)
    return correlator
