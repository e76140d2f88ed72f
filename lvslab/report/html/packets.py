"""Walks as a page shows them: conversations, their packets, and every hop with its headers and bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from lvslab.capture.frame import Direction
from lvslab.report.graph.phrases import graph_phrases
from lvslab.report.graph.summary import summary
from lvslab.report.graph.svg import make_drawing
from lvslab.report.html.columns import Column, all_columns
from lvslab.report.html.headers import Header, header_stack
from lvslab.report.html.hexdump import hexdump
from lvslab.report.html.phrases import PagePhrases
from lvslab.report.html.route import Point, Route
from lvslab.report.html.sections import Packets
from lvslab.report.html.selection import Chosen, select
from lvslab.report.walk_parts import Part, address_key, conversation_parts, part_title, unmatched_parts
from lvslab.walk.changes import describe
from lvslab.walk.model import Endpoint, Hop, Names, Step

MAX_BYTES = 1518
"""Bytes of a frame that are shown: all of what fits an Ethernet frame with a VLAN tag (IEEE 802.3)."""
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Figure:
    """The drawing that the packet moves on."""

    body: Markup
    width: int
    height: int
    summary: str
    route: Route


@dataclass(frozen=True, slots=True)
class HopView:
    id: str
    number: int
    milliseconds: str
    interface: str
    direction: Direction
    node: str
    role: str
    column: int
    sender: int | None
    """Column of the node that it came from over a link."""
    repeated: bool
    """The same bytes as at the hop before."""
    sentence: str
    headers: tuple[Header, ...]
    dump: str
    size: int
    bytes_cut: bool
    same_as: int | None
    """Number of the frame with the same bytes."""
    way: tuple[Point, ...]
    depth: int
    """How many outer headers it has."""


@dataclass(frozen=True, slots=True)
class PacketView:
    id: str
    title: str
    hops: tuple[HopView, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConversationView:
    id: str
    title: str
    columns: tuple[Column, ...]
    absent: tuple[str, ...]
    packets: tuple[PacketView, ...]
    notes: tuple[str, ...]
    selected: bool


@dataclass(frozen=True, slots=True)
class PacketsView:
    prefix: str
    heading: str
    figure: Figure | None
    address_key: tuple[str, ...]
    conversations: tuple[ConversationView, ...]
    left_out: tuple[str, ...]
    most: int

    @property
    def hop_ids(self) -> Mapping[int, str]:
        """The element of each frame that is shown."""
        return {
            hop.number: hop.id
            for conversation in self.conversations
            for packet in conversation.packets
            for hop in packet.hops
        }


def packets_view(section: Packets, prefix: str, say: PagePhrases, *, most: int) -> PacketsView:
    """Return at most so many hops of a section, but one conversation always."""
    selection = select(section.walks, section.evidence, first=section.connection, most=most)
    view = _View(section, prefix, say)
    conversations = tuple(view.conversation(number, chosen) for number, chosen in enumerate(selection.chosen, 1))
    return PacketsView(
        prefix,
        section.heading or say.packets,
        view.figure,
        tuple(address_key(view.used, section.walks.names)),
        conversations,
        tuple(
            say.left_out_kind.format(count=count, kind=_protocol(protocol, say))
            for protocol, count in selection.left_out.items()
        ),
        most,
    )


def _parts(chosen: Chosen, say: PagePhrases) -> tuple[list[Part], tuple[str, ...]]:
    if chosen.conversation is None:
        return unmatched_parts(chosen.unmatched, say.language), (say.unmatched_explained,)
    parts, notes = conversation_parts(chosen.conversation, say.language)
    return parts, notes if chosen.number is not None else ()


def _protocol(protocol: str, say: PagePhrases) -> str:
    return say.word(protocol) if protocol in say.words else protocol.upper()


class _View:
    def __init__(self, section: Packets, prefix: str, say: PagePhrases) -> None:
        self._section, self._prefix, self._say = section, prefix, say
        self._names: Names = section.walks.names
        self.used: list[Hop] = []
        self.figure: Figure | None = None
        if section.topology is not None:
            in_drawing = graph_phrases(say.language)
            drawing = make_drawing(section.topology, in_drawing)
            route = Route(drawing.layout, section.topology)
            self.figure = Figure(
                drawing.body, drawing.width, drawing.height, summary(section.topology, in_drawing), route
            )

    def conversation(self, number: int, chosen: Chosen) -> ConversationView:
        say = self._say
        identifier = f"{self._prefix}c{number}"
        parts, notes = _parts(chosen, say)
        hops = [hop for part in parts for hop in part.hops]
        self.used += hops
        columns = all_columns(self._section.topology, hops)
        visited = {hop.node for hop in hops}
        shown = tuple(column for column in columns if column.node in visited)
        table = _Table(shown, hops[0].time_ns, self._names, say, self.figure)
        packets = tuple(
            PacketView(
                f"{identifier}p{place}",
                part_title(part, self._names, say.language),
                tuple(table.hops(part, self._prefix)),
                part.notes,
            )
            for place, part in enumerate(parts, 1)
        )
        return ConversationView(
            identifier,
            self._title(chosen),
            shown,
            tuple(column.node for column in columns if column.node not in visited),
            packets,
            notes,
            chosen.number == self._section.connection,
        )

    def _title(self, chosen: Chosen) -> str:
        say, conversation = self._say, chosen.conversation
        if conversation is None:
            return say.unmatched_title
        if conversation.initiator is None:
            return part_title(Part("", conversation.walks[0].hops, ()), self._names, say.language)
        ends = {"initiator": self._end(conversation.initiator), "responder": self._end(conversation.responder)}
        if chosen.number is None:
            return say.other_title.format(kind=_protocol(conversation.protocol, say), **ends)
        return say.connection_title.format(number=chosen.number, **ends)

    def _end(self, end: Endpoint | None) -> str:
        if end is None:
            return "?"
        term = self._names.terms.get(end.address)
        if term is None:
            return str(end)
        return term if end.port is None else f"{term}:{end.port}"


@dataclass(frozen=True, slots=True)
class _Table:
    columns: tuple[Column, ...]
    start_ns: int
    names: Names
    say: PagePhrases
    figure: Figure | None

    def hops(self, part: Part, prefix: str) -> Iterable[HopView]:
        by_number = {hop.number: hop for hop in part.hops}
        for hop in part.hops:
            before = by_number.get(hop.previous) if hop.previous is not None else None
            yield self._hop(hop, before, prefix)

    def _hop(self, hop: Hop, before: Hop | None, prefix: str) -> HopView:
        data = hop.frame.data
        repeated = before is not None and before.frame.data == data
        column = self._column(hop)
        crossed = before is not None and hop.step is Step.CROSSED
        return HopView(
            id=f"{prefix}frame-{hop.number}",
            number=hop.number,
            milliseconds=f"{(hop.time_ns - self.start_ns) / _NS_PER_MS:.3f}",
            interface=hop.interface,
            direction=hop.direction,
            node=hop.node,
            role=self.columns[column].role,
            column=column,
            sender=self._column(before) if before is not None and crossed else None,
            repeated=repeated,
            sentence="" if before is None else describe(before, hop, self.names, self.say.language),
            headers=header_stack(hop.packet, before.packet if before else None, self.names, self.say),
            dump="" if repeated else hexdump(data[:MAX_BYTES]),
            size=len(data),
            bytes_cut=len(data) > MAX_BYTES,
            same_as=before.number if before is not None and repeated else None,
            way=self.figure.route.way(before, hop) if self.figure else (),
            depth=len(hop.packet.tunnels),
        )

    def _column(self, hop: Hop) -> int:
        return next(place for place, column in enumerate(self.columns) if column.node == hop.node)
