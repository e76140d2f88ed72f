"""The topology as an outline, for terminals that are too narrow for the drawing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from lvslab.report.graph.cards import Card, Row
from lvslab.report.graph.geometry import Layout

SHARED_HEADING = "each of them:"


def outline(layout: Layout, columns: int) -> Iterator[str]:
    """Yield lines: network by network its cards, each in full where it comes first."""
    told: set[str] = set()
    for number, bus in enumerate(layout.buses):
        if number:
            yield ""
        yield from textwrap.wrap(bus.label, columns, subsequent_indent="  ")
        cards = [box.card for box in layout.boxes if bus.network.name in box.card.networks]
        for card in cards:
            name = card.nodes[0].name
            yield from _card(card, columns, last=card is cards[-1], again=name in told)
            told.add(name)


def _card(card: Card, columns: int, *, last: bool, again: bool) -> Iterator[str]:
    branch, stem = ("└─ ", "   ") if last else ("├─ ", "│  ")
    head, *rest = card_rows(card)
    if again:
        yield f"{branch}{head.text}, see above"
        return
    yield from textwrap.wrap(str(head), columns, initial_indent=branch, subsequent_indent=f"{stem}  ")
    for row in rest:
        yield from textwrap.wrap(str(row), columns, initial_indent=f"{stem}  ", subsequent_indent=f"{stem}    ")


def card_rows(card: Card) -> tuple[Row, ...]:
    """Return a card's rows as one list; what a stack's members share stands under a heading."""
    return (*card.rows, Row(SHARED_HEADING), *card.shared) if card.shared else card.rows
