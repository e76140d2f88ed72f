"""Where on the drawing of a topology a packet is at each hop, and the way it took there."""

from __future__ import annotations

from typing import NamedTuple

from lvslab.report.graph.geometry import Box, Layout, Wire
from lvslab.topology.model import Topology
from lvslab.walk.model import Hop, Step

_INSIDE_X, _INSIDE_Y = 22, 20
"""Where in a card, from its upper right corner, a packet is at a device without a wire (lo, a tunnel)."""


class Point(NamedTuple):
    x: int
    y: int


class Route:
    """Places of one drawing."""

    def __init__(self, layout: Layout, topology: Topology) -> None:
        self._layout = layout
        self._networks = {
            (node.name, interface.name): interface.network for node in topology.nodes for interface in node.interfaces
        }
        self._boxes = {node.name: box for box in layout.boxes for node in box.card.nodes}

    def place(self, hop: Hop) -> Point | None:
        """Return where the hop was seen: where the interface's wire meets the card; None for an unknown node."""
        box = self._boxes.get(hop.node)
        if box is None:
            return None
        wire = self._wire(hop, box)
        if wire is None:
            return Point(box.right - _INSIDE_X, box.y + _INSIDE_Y)
        return Point(wire.x, box.bottom if wire.top == box.bottom else box.y)

    def way(self, before: Hop | None, hop: Hop) -> tuple[Point, ...]:
        """Return the corners of the way from the hop before: along the wires and the network's bus."""
        end = self.place(hop)
        if end is None:
            return ()
        start = None if before is None else self.place(before)
        if before is None or start is None:
            return (end,)
        network = self._networks.get((hop.node, hop.interface))
        same_network = network == self._networks.get((before.node, before.interface))
        bus = next((each for each in self._layout.buses if each.network.name == network), None)
        if hop.step is Step.CROSSED and bus is not None and same_network:
            return (start, Point(start.x, bus.y), Point(end.x, bus.y), end)
        return (start, end)

    def _wire(self, hop: Hop, box: Box) -> Wire | None:
        network = self._networks.get((hop.node, hop.interface))
        return next(
            (
                wire
                for wire in self._layout.wires
                if wire.network == network
                and box.x <= wire.x < box.right
                and (wire.top == box.bottom or wire.bottom == box.y)
            ),
            None,
        )
