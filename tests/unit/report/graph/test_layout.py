from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from lvslab.report.graph.geometry import Box, Layout, Metrics
from lvslab.report.graph.layout import make_layout
from tests.unit.report.graph.samples import IN_ENGLISH, NAMES, named

CHARACTERS = Metrics(cell=1, line=1, rule=1, pad_x=2, pad_y=1, gap_x=2, gap_y=1, bus=1, widest=200)
PIXELS = Metrics(cell=8, line=19, rule=13, pad_x=16, pad_y=11, gap_x=28, gap_y=32, bus=6, widest=1120, narrowest=480)
METRICS = (CHARACTERS, PIXELS)


def overlapping(boxes: tuple[Box, ...]) -> list[tuple[str, str]]:
    return [
        (one.card.nodes[0].name, other.card.nodes[0].name)
        for one, other in combinations(boxes, 2)
        if one.x < other.right and other.x < one.right and one.y < other.bottom and other.y < one.bottom
    ]


def wires_through_boxes(layout: Layout) -> list[str]:
    return [
        box.card.nodes[0].name
        for wire in layout.wires
        for box in layout.boxes
        if box.x <= wire.x < box.right and wire.top < box.bottom and box.y < wire.bottom
    ]


@pytest.mark.parametrize("metrics", METRICS, ids=["characters", "pixels"])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_stands_on_anything_else(name: str, metrics: Metrics) -> None:
    layout = make_layout(named(name), metrics, IN_ENGLISH)
    assert overlapping(layout.boxes) == []
    assert wires_through_boxes(layout) == []
    for bus in layout.buses:
        right = bus.label_x + len(bus.label) * metrics.cell
        beside = [w.x for w in layout.wires if w.top < bus.label_y + metrics.line and bus.label_y < w.bottom]
        assert not any(bus.label_x <= x < right for x in beside)
        assert all(box.bottom <= bus.y or bus.y + metrics.bus <= box.y for box in layout.boxes)
        assert right <= bus.width <= layout.width
        assert max(bus.y + metrics.bus, bus.label_y + metrics.line) <= layout.height
    assert all(box.x >= 0 and box.right <= layout.width and box.bottom <= layout.height for box in layout.boxes)


def test_the_check_for_overlaps_can_fail() -> None:
    box = make_layout(named("dr"), CHARACTERS, IN_ENGLISH).boxes[0]
    assert overlapping((box, box))


@pytest.mark.parametrize("metrics", METRICS, ids=["characters", "pixels"])
@pytest.mark.parametrize("name", NAMES)
def test_every_interface_has_one_wire_from_its_card_to_its_network(name: str, metrics: Metrics) -> None:
    layout = make_layout(named(name), metrics, IN_ENGLISH)
    buses = {bus.network.name: bus for bus in layout.buses}
    drawn: Counter[tuple[str, str]] = Counter()
    for wire in layout.wires:
        bus = buses[wire.network]
        (card,) = (
            box.card
            for box in layout.boxes
            if box.x < wire.x < box.right
            and (wire.top, wire.bottom) in ((bus.y + metrics.bus, box.y), (box.bottom, bus.y))
        )
        drawn[card.nodes[0].name, wire.network] += 1
    assert drawn == Counter(
        (box.card.nodes[0].name, interface.network)
        for box in layout.boxes
        for interface in box.card.nodes[0].interfaces
    )


def test_a_wire_says_which_networks_it_only_crosses() -> None:
    layout = make_layout(named("meshed"), CHARACTERS, IN_ENGLISH)
    crossing = {(wire.network, wire.crosses) for wire in layout.wires if wire.crosses}
    assert crossing == {("middle", ("west",)), ("servers", ("west", "middle"))}


def test_stacks_grow_only_when_the_drawing_is_too_wide() -> None:
    wide, narrow = (
        make_layout(named("rr-dns"), Metrics(1, 1, 1, 2, 1, 2, 1, 1, widest=columns), IN_ENGLISH)
        for columns in (200, 80)
    )
    assert not any(box.card.is_stack for box in wide.boxes)
    assert [box.card.nodes[0].name for box in narrow.boxes if box.card.is_stack] == ["client1", "rs1"]
