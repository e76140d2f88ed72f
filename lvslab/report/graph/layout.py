"""Where everything stands: cards in bands between the networks, networks as horizontal buses, straight wires."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from lvslab.report.graph.cards import Card, make_cards
from lvslab.report.graph.columns import Column, make_columns, ports
from lvslab.report.graph.geometry import Box, Bus, Layout, Metrics, Wire
from lvslab.report.graph.order import Standing, networks_in_order, stand
from lvslab.report.graph.phrases import GraphPhrases
from lvslab.topology.model import Network, Topology

STACK_FROM = (4, 2)
"""How many like nodes make a stack: rather few stacks than many, rather many than a drawing too wide."""


def make_layout(topology: Topology, metrics: Metrics, say: GraphPhrases) -> Layout:
    """Return the drawing with the fewest stacks that is not too wide, or the narrowest there is."""
    for stack_from in STACK_FROM:
        layout = _layout(topology, make_cards(topology, say, stack_from=stack_from), metrics)
        if layout.width <= metrics.widest:
            break
    return layout


def network_label(network: Network) -> str:
    return f"{network.name} {', '.join(str(subnet) for subnet in network.subnets)}"


def _layout(topology: Topology, cards: Iterable[Card], metrics: Metrics) -> Layout:
    networks = networks_in_order(topology)
    standing = stand(cards, networks)
    bands = [[each for each in standing if each.band == band] for band in range(len(networks) + 1)]
    rows, height = _rows(bands, metrics)
    boxes = [
        _box(each, column, rows[each.band], metrics)
        for band, columns in zip(bands, make_columns(bands, metrics), strict=True)
        for each, column in zip(band, columns, strict=True)
    ]
    in_order = [each for band in bands for each in band]
    wires = [
        wire for each, box in zip(in_order, boxes, strict=True) for wire in _wires(each, box, rows, networks, metrics)
    ]
    width = max((metrics.narrowest, *(box.right for box in boxes)))
    buses = [_bus(network, row.bus, width, wires, metrics) for network, row in zip(networks, rows, strict=False)]
    width = max((width, *(bus.label_x + cell_len(bus.label) * metrics.cell for bus in buses)))
    height = max((height, *(bus.label_y + metrics.gap_y for bus in buses)))
    return Layout(width, height, tuple(boxes), tuple(wires), tuple(replace(bus, width=width) for bus in buses))


def _height(card: Card, metrics: Metrics) -> int:
    rule = metrics.rule if card.shared else 0
    return len(card.all_rows) * metrics.line + rule + 2 * metrics.pad_y


@dataclass(frozen=True, slots=True)
class _Row:
    """Heights of a band, and of the bus behind it."""

    top: int
    bottom: int
    bus: int


def _rows(bands: Sequence[Sequence[Standing]], metrics: Metrics) -> tuple[list[_Row], int]:
    """Return the rows from above, and the height of them all; behind the last band there is no bus."""
    rows: list[_Row] = []
    y = 0
    for band in bands:
        bottom = y + max((_height(each.card, metrics) for each in band), default=0)
        rows.append(_Row(y, bottom, bottom + metrics.gap_y))
        y = rows[-1].bus + metrics.bus + metrics.gap_y
    return rows, rows[-1].bottom if bands[-1] else rows[-2].bus + metrics.bus


def _box(standing: Standing, column: Column, row: _Row, metrics: Metrics) -> Box:
    """Return the card's box, as near as can be to a bus it is wired to."""
    height = _height(standing.card, metrics)
    y = row.top if standing.places_before else row.bottom - height
    return Box(standing.card, column.x, y, column.width, height)


def _wires(
    standing: Standing, box: Box, rows: Sequence[_Row], networks: Sequence[Network], metrics: Metrics
) -> list[Wire]:
    wires = []
    for x, place in ports(standing, Column(box.x, box.width)):
        bus = rows[place].bus
        hangs = place < standing.band
        top, bottom = (bus + metrics.bus, box.y) if hangs else (box.bottom, bus)
        crosses = tuple(network.name for network in networks[standing.band : place])
        wires.append(Wire(x, top, bottom, networks[place].name, crosses))
    return wires


def _bus(network: Network, y: int, width: int, wires: Sequence[Wire], metrics: Metrics) -> Bus:
    """Return the bus with its label: as far left as wires let it be, rather above the bus than below."""
    label = network_label(network)
    room = cell_len(label) * metrics.cell
    places = []
    for label_y in (y - metrics.gap_y, y + metrics.bus):
        columns = [wire.x for wire in wires if wire.top < label_y + metrics.gap_y and label_y < wire.bottom]
        for x in (0, *(column + 2 * metrics.cell for column in columns)):
            if not any(x - metrics.cell <= column <= x + room for column in columns):
                places.append((max(width, x + room), x, label_y))
    _, label_x, label_y = min(places)
    return Bus(network, y, width, label, label_x, label_y)
