"""What a reader is shown of walks, in whatever form: packets with their role and title, notes, the key to addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lvslab.capture.frame import Direction
from lvslab.capture.packet import Packet
from lvslab.walk import words
from lvslab.walk.model import Conversation, Hop, Names, Unmatched, Walk
from lvslab.walk.phrases import Language, phrases


@dataclass(frozen=True, slots=True)
class Part:
    """One packet: what it is to the reader, its hops, and what is to be said at the end."""

    role: str
    """Request, Reply, Error, Packet or Unmatched; empty where the title says it all."""
    hops: tuple[Hop, ...]
    notes: tuple[str, ...]


def packet_parts(walks: Iterable[Walk], language: Language, *, role: str = "Packet") -> list[Part]:
    """Return packets that are not looked at as one connection's."""
    return [Part(role, walk.hops, _notes(walk, None, language)) for walk in walks]


def conversation_parts(conversation: Conversation, language: Language) -> tuple[list[Part], tuple[str, ...]]:
    """Return the packets in order of time, and what is to be said of them all."""
    requests, replies, errors = conversation.requests, conversation.replies, conversation.errors
    home = requests[0].origin.node if requests else None
    parts = packet_parts(requests, language, role="Request")
    parts += [Part("Reply", walk.hops, _notes(walk, home, language)) for walk in replies]
    parts += packet_parts(errors, language, role="Error")
    parts.sort(key=lambda part: part.hops[0].number)
    return parts, () if replies else (phrases(language).no_reply,)


def unmatched_parts(unmatched: Iterable[Unmatched], language: Language) -> list[Part]:
    return [
        Part("Unmatched", rest.hops or rest.overheard, (words.unmatched_reason(rest, language),)) for rest in unmatched
    ]


def part_title(part: Part, names: Names, language: Language) -> str:
    """Return ``Request: TCP SYN, client → router → rs1``."""
    say = phrases(language)
    title = words.packet_title(part.hops[0].packet, names, language)
    pieces = words.fragments(part.hops[0].frame, language)
    if pieces:
        title += say.comma + pieces
    nodes = _nodes(part.hops)
    if len(without_receivers(part.hops)) == len(part.hops) and len(nodes) > 1:
        title += say.comma + " → ".join(nodes)
    return say.role.format(role=say.word(part.role), title=title) if part.role else title


def without_receivers(hops: tuple[Hop, ...]) -> tuple[Hop, ...]:
    """Leave out who received a broadcast: all rows would be the same, and a note names them."""
    times = [hop.previous for hop in hops]
    return tuple(hop for hop in hops if hop.previous is None or times.count(hop.previous) == 1)


def address_key(hops: Iterable[Hop], names: Names) -> list[str]:
    """Say which address each term stands for, and whose it is."""
    entries = []
    for address in _used_addresses(hops):
        term, owner = names.terms.get(address), names.labels.get(address)
        if term is not None:
            entries.append(f"{term} {address}" + (f" ({owner})" if owner and owner != term else ""))
    return entries


def _notes(walk: Walk, back_to: str | None, language: Language) -> tuple[str, ...]:
    say = phrases(language)
    notes = []
    receivers = walk.receivers if len(walk.ends) > 1 else ()
    if receivers:
        notes.append(say.heard_at.format(places=_places(receivers, language)))
    elif back_to is not None and back_to not in {hop.node for hop in walk.receivers}:
        notes.append(say.not_back.format(node=back_to, place=_places(walk.ends, language)))
    elif lost := [end for end in walk.ends if end.direction is Direction.OUT]:
        notes.append(say.lost.format(place=_places(lost, language)))
    if walk.overheard:
        notes.append(say.overheard.format(places=_places(walk.overheard, language)))
    return tuple(notes)


def _places(hops: Iterable[Hop], language: Language) -> str:
    say = phrases(language)
    return say.list_comma.join(say.frame.format(where=hop.where, number=hop.number) for hop in hops)


def _nodes(hops: Sequence[Hop]) -> list[str]:
    return [hop.node for index, hop in enumerate(hops) if not index or hops[index - 1].node != hop.node]


def _used_addresses(hops: Iterable[Hop]) -> tuple[str, ...]:
    """Return the IP addresses in the order in which headers mention them."""
    return tuple(dict.fromkeys(address for hop in hops for address in _addresses(hop.packet)))


def _addresses(packet: Packet) -> Iterator[str]:
    if packet.arp is not None:
        yield from (packet.arp.target_ip, packet.arp.sender_ip)
    if packet.ip is not None:
        yield from (packet.ip.source, packet.ip.destination)
    for tunnel in packet.tunnels:
        yield from (tunnel.ip.source, tunnel.ip.destination)
