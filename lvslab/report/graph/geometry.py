"""What a drawing consists of, and where. The unit is the caller's: characters or pixels. Ranges are half open."""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.report.graph.cards import Card
from lvslab.topology.model import Network


@dataclass(frozen=True, slots=True)
class Metrics:
    """Sizes in the caller's unit."""

    cell: int
    """Width of one character."""
    line: int
    rule: int
    """Height of the line between a stack's members and what they share."""
    pad_x: int
    """Between the outer edge of a card and its text, border included."""
    pad_y: int
    gap_x: int
    """Between cards."""
    gap_y: int
    """Between cards and buses; a network's label stands there."""
    bus: int
    """Height of a bus."""
    widest: int
    """What the drawing should not exceed if stacking can help."""
    narrowest: int = 0
    """What the buses span at least."""


@dataclass(frozen=True, slots=True)
class Box:
    card: Card
    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.x + self.width

    @property
    def bottom(self) -> int:
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Wire:
    """A vertical wire between a card and the bus of one of its networks."""

    x: int
    top: int
    bottom: int
    network: str
    crosses: tuple[str, ...] = ()
    """Networks whose buses it passes without touching."""


@dataclass(frozen=True, slots=True)
class Bus:
    network: Network
    y: int
    width: int
    label: str
    label_x: int
    label_y: int
    """Upper edge of the label's line."""


@dataclass(frozen=True, slots=True)
class Layout:
    width: int
    height: int
    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]
    buses: tuple[Bus, ...]
