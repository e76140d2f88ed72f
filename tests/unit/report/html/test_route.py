"""Where the packet is drawn: on its node's card, and between cards along the wires."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lvslab.report.graph.geometry import Box
from lvslab.report.graph.svg import make_drawing
from lvslab.report.html.route import Point, Route
from lvslab.walk.model import Hop, Step
from tests.unit.report.graph.samples import IN_ENGLISH
from tests.unit.report.html.support import STORED, examined


def on_edge(point: Point, box: Box) -> bool:
    return box.x <= point.x < box.right and point.y in (box.y, box.bottom)


def inside(point: Point, box: Box) -> bool:
    return box.x < point.x < box.right and box.y < point.y < box.bottom


@pytest.mark.parametrize("name", STORED)
def test_every_hop_has_its_place_and_every_link_is_crossed_along_wires(name: str) -> None:
    evidence = examined(name).evidence
    layout = make_drawing(evidence.topology, IN_ENGLISH).layout
    route = Route(layout, evidence.topology)
    boxes = {node.name: box for box in layout.boxes for node in box.card.nodes}
    crossed = 0
    for walk in evidence.walks.walks:
        for hop in walk.hops:
            place = route.place(hop)
            assert place is not None
            wired = hop.interface.startswith("eth")
            assert (on_edge if wired else inside)(place, boxes[hop.node])
            before = walk.before(hop)
            way = route.way(before, hop)
            assert way[-1] == place
            if before is not None and hop.step is Step.CROSSED:
                crossed += 1
                assert way[0] == route.place(before)
                assert all(one.x == other.x or one.y == other.y for one, other in pairwise(way))
    assert crossed


def test_a_packet_in_a_stack_of_servers_is_on_the_stacks_card() -> None:
    from lvslab.topology import load_topology

    topology = load_topology("dr", params={"real_servers": 64})
    layout = make_drawing(topology, IN_ENGLISH).layout
    route = Route(layout, topology)
    hop = hop_at("rs40", "eth0")
    (stack,) = (box for box in layout.boxes if box.card.is_stack)
    place = route.place(hop)
    assert place is not None
    assert on_edge(place, stack)


def test_an_unknown_node_has_no_place() -> None:
    evidence = examined("dr").evidence
    route = Route(make_drawing(evidence.topology, IN_ENGLISH).layout, evidence.topology)
    assert route.place(hop_at("stranger", "eth0")) is None
    assert route.way(None, hop_at("stranger", "eth0")) == ()


def hop_at(node: str, interface: str) -> Hop:
    hop = examined("dr").evidence.walks.walks[0].origin
    from dataclasses import replace

    return hop._replace(frame=replace(hop.frame, node=node, interface=interface))
