"""A node, or a stack of like nodes, as the lines of one card."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from rich.cells import cell_len

from lvslab.report.graph.facts import SIGNS, Fact, Mark, further_facts, own_addresses
from lvslab.report.graph.phrases import GraphPhrases
from lvslab.topology.model import Node, Role, Topology


class RowKind(StrEnum):
    NAME = "name"
    MEMBER = "member"
    PLAIN = "plain"
    MORE = "more"
    """How many members of a stack are like the one above and left out."""
    REMOVED = "removed"
    BY_HAND = "by-hand"


@dataclass(frozen=True, slots=True)
class Row:
    text: str
    kind: RowKind = RowKind.PLAIN
    aside: str = ""
    """Said after the text, less loudly: the role."""

    def __str__(self) -> str:
        return f"{self.text} {self.aside}".rstrip()


@dataclass(frozen=True, slots=True)
class Card:
    nodes: tuple[Node, ...]
    """One, or the members of a stack."""
    rows: tuple[Row, ...]
    shared: tuple[Row, ...] = ()
    """What holds for every member of a stack."""
    hidden: tuple[str, ...] = ()
    """The members of a stack that `rows` leave out, with their addresses."""

    @property
    def role(self) -> Role:
        return self.nodes[0].role

    @property
    def networks(self) -> tuple[str, ...]:
        """The network of each interface."""
        return tuple(interface.network for interface in self.nodes[0].interfaces)

    @property
    def is_stack(self) -> bool:
        return len(self.nodes) > 1

    @property
    def all_rows(self) -> tuple[Row, ...]:
        return (*self.rows, *self.shared)

    @property
    def lacks_settings(self) -> bool:
        """Whether an implied setting was taken away from any of the nodes."""
        return any(row.kind is RowKind.REMOVED for row in self.all_rows)


def make_cards(topology: Topology, say: GraphPhrases, *, stack_from: int) -> tuple[Card, ...]:
    """Return the cards of all nodes in file order; groups of at least `stack_from` like nodes are stacked."""
    cards: list[Card] = []
    for _, group in groupby(topology.nodes, key=_likeness):
        nodes = tuple(group)
        if len(nodes) >= stack_from:
            cards.append(_stack(nodes, topology, say))
        else:
            cards.extend(_single(node, topology, say) for node in nodes)
    return tuple(cards)


def _likeness(node: Node) -> tuple[object, ...]:
    """Return what the members of a group such as ``rs[1-4]`` have in common."""
    stem = re.sub(r"[0-9]+", "#", node.name)
    return stem, node.role, tuple(interface.network for interface in node.interfaces)


def _single(node: Node, topology: Topology, say: GraphPhrases) -> Card:
    role = say.role(node.role)
    aside = "" if node.name == role else role
    lines = [_Line.of(fact) for fact in (*own_addresses(node), *further_facts(node, topology, say))]
    return Card((node,), (Row(node.name, RowKind.NAME, aside), *_aligned(lines)))


@dataclass(frozen=True, slots=True)
class _Line:
    """A row before its columns are aligned: name, device, label and address; other text has one column."""

    columns: tuple[str, ...]
    kind: RowKind

    @classmethod
    def of(cls, fact: Fact) -> _Line:
        if fact.device:
            return cls(("", fact.device, fact.label, fact.text), RowKind.PLAIN)
        kind = {Mark.REMOVED: RowKind.REMOVED, Mark.BY_HAND: RowKind.BY_HAND}.get(fact.mark, RowKind.PLAIN)
        return cls((f"{SIGNS[fact.mark]}{fact.text}",), kind)

    def under(self, name: str, *, without_device: bool) -> _Line:
        """Return the line with a member's name, or the room for it, before it."""
        kind = RowKind.MEMBER if name and self.kind is RowKind.PLAIN else self.kind
        if len(self.columns) == 1:
            return _Line((name, *self.columns), kind)
        _, device, label, text = self.columns
        return _Line((name, "" if without_device else device, label, text), kind)


def _aligned(lines: Sequence[_Line]) -> tuple[Row, ...]:
    """Return the lines as rows; a column that is empty everywhere takes no room."""
    table = [line.columns for line in lines if len(line.columns) > 1]
    most = max(map(len, table), default=0)
    widths = [
        max((cell_len(each[index]) for each in table if index < len(each) - 1), default=0) for index in range(most)
    ]
    return tuple(Row(_joined(line.columns, widths), line.kind) for line in lines)


def _joined(columns: tuple[str, ...], widths: Sequence[int]) -> str:
    *before, last = columns
    padded = (text + " " * (width - cell_len(text) + 1) for text, width in zip(before, widths, strict=False) if width)
    return "".join(padded) + last


def _stack(nodes: tuple[Node, ...], topology: Topology, say: GraphPhrases) -> Card:
    facts = [further_facts(node, topology, say) for node in nodes]
    shared = [fact for fact in facts[0] if all(fact in each for each in facts)]
    own = [tuple(fact for fact in each if fact not in shared) for each in facts]
    shown = _shown(own)
    each_own = [(*own_addresses(node), *facts) for node, facts in zip(nodes, own, strict=True)]
    one_device = len({fact.device for facts in each_own for fact in facts if fact.device}) == 1

    def lines(index: int) -> Iterator[_Line]:
        name = nodes[index].name
        for number, fact in enumerate(each_own[index]):
            yield _Line.of(fact).under("" if number else name, without_device=one_device)

    heading = say.stack.format(count=len(nodes), role=say.role(nodes[0].role))
    return Card(
        nodes,
        (Row(heading, RowKind.NAME), *_members(shown, len(nodes), lines, say)),
        _aligned([_Line.of(fact) for fact in shared]),
        tuple(_words(node) for index, node in enumerate(nodes) if index not in shown),
    )


def _shown(own: Sequence[tuple[Fact, ...]]) -> frozenset[int]:
    """Return which members to show: first, second, last, and each that differs from the one before it.

    So what is left out is like what stands above it. One alone is not worth leaving out.
    """
    last = len(own) - 1
    shown = {0, 1, last} | {index for index in range(1, last) if own[index] != own[index - 1]}
    lone = {index for index in range(1, last) if {index - 1, index + 1} <= shown}
    return frozenset((shown | lone) & set(range(last + 1)))


def _members(
    shown: Iterable[int], count: int, lines: Callable[[int], Iterator[_Line]], say: GraphPhrases
) -> tuple[Row, ...]:
    found: list[_Line] = []
    previous = -1
    for index in sorted((*shown, count)):
        if left_out := index - previous - 1:
            found.append(_Line(("…", say.more.format(count=left_out)), RowKind.MORE))
        if index < count:
            found.extend(lines(index))
        previous = index
    return _aligned(found)


def _words(node: Node) -> str:
    return f"{node.name} {' '.join(str(address) for address in node.own_addresses)}"
