"""The topology as an outline, for terminals that are too narrow for the drawing."""

from __future__ import annotations

from collections.abc import Iterator

from lvslab.report.graph.cards import Card, Row
from lvslab.report.graph.geometry import Layout
from lvslab.report.graph.phrases import GraphPhrases
from lvslab.report.graph.wrapping import wrapped


def outline(layout: Layout, columns: int, say: GraphPhrases) -> Iterator[str]:
    """Yield lines: network by network its cards, each in full where it comes first."""
    told: set[str] = set()
    for number, bus in enumerate(layout.buses):
        if number:
            yield ""
        yield from wrapped(bus.label, columns, subsequent_indent="  ")
        cards = [box.card for box in layout.boxes if bus.network.name in box.card.networks]
        for card in cards:
            name = card.nodes[0].name
            yield from _card(card, columns, say, last=card is cards[-1], again=name in told)
            told.add(name)


def _card(card: Card, columns: int, say: GraphPhrases, *, last: bool, again: bool) -> Iterator[str]:
    branch, stem = ("└─ ", "   ") if last else ("├─ ", "│  ")
    head, *rest = card_rows(card, say)
    if again:
        yield f"{branch}{say.see_above.format(name=head.text)}"
        return
    yield from wrapped(str(head), columns, initial_indent=branch, subsequent_indent=f"{stem}  ")
    for row in rest:
        yield from wrapped(str(row), columns, initial_indent=f"{stem}  ", subsequent_indent=f"{stem}    ")


def card_rows(card: Card, say: GraphPhrases) -> tuple[Row, ...]:
    """Return a card's rows as one list; what a stack's members share stands under a heading."""
    return (*card.rows, Row(say.each_member), *card.shared) if card.shared else card.rows
