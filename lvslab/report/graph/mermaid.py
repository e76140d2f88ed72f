"""The topology as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from lvslab.report.graph.cards import Card, Row, RowKind, make_cards
from lvslab.report.graph.layout import STACK_FROM, network_label
from lvslab.report.graph.notes import make_notes
from lvslab.report.graph.order import networks_in_order, stand
from lvslab.report.graph.outline import card_rows
from lvslab.report.graph.phrases import ENGLISH, GraphPhrases, graph_phrases
from lvslab.report.graph.summary import summary, title_of
from lvslab.topology.model import Topology

_CONFIG = "config: {flowchart: {wrappingWidth: 600}}"
"""In pixels: Mermaid breaks lines at 200 otherwise, in the midst of an address."""
_BREAK = "<br/>"
_ENTITIES = str.maketrans({"#": "#35;", '"': "#quot;", "&": "#amp;", "<": "#lt;", ">": "#gt;"})
"""A label is HTML; Mermaid writes entities with ``#`` (flowchart syntax, "Entity codes to escape characters")."""
_CLASSES = (
    "classDef network stroke-width:4px",
    "classDef note stroke-dasharray:2 3",
    "classDef lacking stroke:#c62828,stroke-width:2px,stroke-dasharray:6 3",
)


def draw_mermaid(topology: Topology, *, language: str = ENGLISH) -> str:
    """Return a flowchart: networks as stadiums, nodes or stacks of nodes as boxes, services as notes."""
    title = f"{topology.name}: {title_of(topology, language)}"
    head = ("---", f"title: {json.dumps(title, ensure_ascii=False)}", _CONFIG, "---", "flowchart TB")
    say = graph_phrases(language)
    cards = make_cards(topology, say, stack_from=STACK_FROM[0])
    body = (
        f"accDescr: {summary(topology, say).translate(_ENTITIES)}",
        *_nodes(cards, say),
        *_networks(topology, cards),
        *_notes(topology, cards, say),
        *_CLASSES,
        *_lacking(cards),
    )
    return "".join(f"{line}\n" for line in (*head, *(f"  {line}" for line in body)))


def _nodes(cards: Sequence[Card], say: GraphPhrases) -> Iterator[str]:
    for number, card in enumerate(cards, 1):
        yield f'n{number}["{_BREAK.join(map(_row, card_rows(card, say)))}"]'


def _row(row: Row) -> str:
    """Return the row as HTML; columns are not aligned, since the label's font has no fixed width."""
    text = " ".join(row.text.split()).translate(_ENTITIES)
    return f"<b>{text}</b> {row.aside}".rstrip() if row.kind is RowKind.NAME else text


def _networks(topology: Topology, cards: Sequence[Card]) -> Iterator[str]:
    networks = networks_in_order(topology)
    for number, network in enumerate(networks, 1):
        yield f'net{number}(["{network_label(network)}"]):::network'
    for number, standing in enumerate(stand(cards, networks), 1):
        yield from (f"net{place + 1} --- n{number}" for place in standing.places_before)
        yield from (f"n{number} --- net{place + 1}" for place in standing.places_behind)


def _notes(topology: Topology, cards: Sequence[Card], say: GraphPhrases) -> Iterator[str]:
    owner = {node.name: number for number, card in enumerate(cards, 1) for node in card.nodes}
    for number, note in enumerate(make_notes(topology, say), 1):
        text = _BREAK.join(line.translate(_ENTITIES) for line in (note.heading, *note.lines))
        yield f'note{number}["{text}"]:::note'
        yield f"n{owner[note.node]} -.- note{number}"


def _lacking(cards: Sequence[Card]) -> Iterator[str]:
    names = [f"n{number}" for number, card in enumerate(cards, 1) if card.lacks_settings]
    if names:
        yield f"class {','.join(names)} lacking"
