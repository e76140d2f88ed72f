"""What became different between one hop and the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lvslab.capture.packet import Packet, Sctp, Tcp, Tunnel
from lvslab.walk import words
from lvslab.walk.model import Hop, Names, Step
from lvslab.walk.phrases import Language


@dataclass(frozen=True, slots=True)
class Change:
    """One field with its old and new value, and the same in words."""

    field: words.Field
    old: str
    new: str
    sentence: str


def changes_between(before: Hop, after: Hop, names: Names, language: Language = Language.ENGLISH) -> tuple[Change, ...]:
    """Return what differs, link first. Checksums follow from the rest and are reported only when they break."""
    return tuple(
        Change(name, old, new, words.change(name, old, new, after.node, names, language))
        for name, old, new in (*_differences(before.packet, after.packet), *_fragments(before, after, language))
    )


def describe(before: Hop, after: Hop, names: Names, language: Language = Language.ENGLISH) -> str:
    """Return what happened between two hops as one sentence, beginning with the node's name."""
    if after.step is Step.CROSSED:
        return words.crossed(before, after, language)
    changes = changes_between(before, after, names, language)
    sentences = tuple(change.sentence for change in changes if change.sentence)
    return words.at_node(after, sentences, _unchanged(before.packet, after.packet), language)


_Difference = tuple[words.Field, str, str]


def _differences(before: Packet, after: Packet) -> Iterator[_Difference]:
    yield from _link(before, after)
    yield from _tunnels(before.tunnels, after.tunnels)
    yield from _ip(before, after)
    yield from _transport(before, after)
    if before.payload != after.payload:
        yield words.Field.PAYLOAD, str(len(before.payload)), str(len(after.payload))
    broken = [name for name in after.bad_checksums if name not in before.bad_checksums]
    if broken:
        yield words.Field.CHECKSUM, "right", ", ".join(broken)


def _fragments(before: Hop, after: Hop, language: Language) -> Iterator[_Difference]:
    """Tell pieces that became whole, a whole in pieces, and other pieces; not those that only crossed a link."""
    if after.step is not Step.CROSSED and _cuts(before) != _cuts(after):
        old, new = words.fragments(before.frame, language), words.fragments(after.frame, language)
        yield words.Field.FRAGMENTS, old, new


def _cuts(hop: Hop) -> tuple[tuple[int, int], ...]:
    return tuple((each.offset, each.size) for each in hop.frame.fragments)


def _link(before: Packet, after: Packet) -> Iterator[_Difference]:
    old, new = before.ethernet, after.ethernet
    if old is None or new is None:
        return
    if old.destination != new.destination:
        yield words.Field.DESTINATION_MAC, old.destination, new.destination
    if old.source != new.source:
        yield words.Field.SOURCE_MAC, old.source, new.source


def _tunnels(before: tuple[Tunnel, ...], after: tuple[Tunnel, ...]) -> Iterator[_Difference]:
    """Compare from the innermost outwards: headers are put on and taken off outside."""
    common = min(len(before), len(after))
    for tunnel in before[: len(before) - common]:
        yield words.Field.OUTER_HEADER, words.tunnel(tunnel), ""
    for tunnel in after[: len(after) - common]:
        yield words.Field.OUTER_HEADER, "", words.tunnel(tunnel)
    for old, new in zip(before[len(before) - common :], after[len(after) - common :], strict=True):
        if words.tunnel(old) != words.tunnel(new):
            yield words.Field.OUTER_HEADER, words.tunnel(old), words.tunnel(new)
        if old.ip.ttl != new.ip.ttl:
            yield words.Field.OUTER_TTL, str(old.ip.ttl), str(new.ip.ttl)


def _ip(before: Packet, after: Packet) -> Iterator[_Difference]:
    old, new = before.ip, after.ip
    if old is None or new is None:
        return
    if old.ttl != new.ttl:
        inner = bool(before.tunnels or after.tunnels)
        yield words.Field.INNER_TTL if inner else words.Field.TTL, str(old.ttl), str(new.ttl)
    old_ports, new_ports = before.ports or (None, None), after.ports or (None, None)
    for end, addresses in enumerate(((old.source, new.source), (old.destination, new.destination))):
        if (addresses[0], old_ports[end]) != (addresses[1], new_ports[end]):
            field = (words.Field.SOURCE, words.Field.DESTINATION)[end]
            yield field, words.endpoint(addresses[0], old_ports[end]), words.endpoint(addresses[1], new_ports[end])
    if old.tos != new.tos:
        yield words.Field.TOS, f"0x{old.tos:02x}", f"0x{new.tos:02x}"


def _transport(before: Packet, after: Packet) -> Iterator[_Difference]:
    old, new = before.transport, after.transport
    if isinstance(old, Sctp) and isinstance(new, Sctp):
        yield from _sctp(old, new)
    if not (isinstance(old, Tcp) and isinstance(new, Tcp)):
        return
    if old.window != new.window:
        yield words.Field.WINDOW, str(old.window), str(new.window)
    if old.options != new.options:
        yield words.Field.TCP_OPTIONS, old.options.hex(), new.options.hex()


def _sctp(old: Sctp, new: Sctp) -> Iterator[_Difference]:
    """Its checksum is over all of the packet and no address: only what rewrites a port has to compute it anew."""
    if old.verification_tag != new.verification_tag:
        yield words.Field.VERIFICATION_TAG, f"0x{old.verification_tag:08x}", f"0x{new.verification_tag:08x}"
    if old.chunks != new.chunks:
        yield words.Field.CHUNKS, words.chunk_names(old), words.chunk_names(new)
    if None not in (old.checksum, new.checksum) and old.checksum != new.checksum:
        yield words.Field.SCTP_CHECKSUM, f"0x{old.checksum:08x}", f"0x{new.checksum:08x}"


def _unchanged(before: Packet, after: Packet) -> tuple[words.Kept, ...]:
    tunnelled = before.tunnels or after.tunnels
    if tunnelled and (before.ip, before.transport, before.payload) == (after.ip, after.transport, after.payload):
        return (words.Kept.INNER,)
    kept = []
    if before.ip and after.ip:
        if (before.ip.source, before.ip.destination) == (after.ip.source, after.ip.destination):
            kept.append(words.Kept.ADDRESSES)
        if before.ports is not None and before.ports == after.ports:
            kept.append(words.Kept.PORTS)
    if before.payload == after.payload:
        kept.append(words.Kept.PAYLOAD)
    return tuple(kept)
