"""Where cards stand from left to right, and the columns of their wires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from lvslab.report.graph.cards import Card
from lvslab.report.graph.geometry import Metrics
from lvslab.report.graph.order import Standing


@dataclass(frozen=True, slots=True)
class Column:
    """The room of one card."""

    x: int
    width: int


def make_columns(bands: Sequence[Sequence[Standing]], metrics: Metrics) -> list[list[Column]]:
    """Return the column of every card: bands centred, but beside the wires that cross them from above."""
    widths = [_widths(band, metrics) for band in bands]
    totals = [_total(band, metrics) for band in widths]
    whole = max((metrics.narrowest, *totals))
    crossing: list[list[int]] = [[] for _ in bands]
    columns: list[list[Column]] = []
    for index, band in enumerate(bands):
        start = 0 if crossing[index] else whole // 2 - totals[index] // 2
        columns.append(_side_by_side(widths[index], start, sorted(crossing[index]), metrics))
        for each, column in zip(band, columns[index], strict=True):
            for x, place in ports(each, column):
                for later in range(each.band + 1, place + 1):
                    crossing[later].append(x)
    return columns


def ports(standing: Standing, column: Column) -> list[tuple[int, int]]:
    """Return (x, place) of each wire: those to one side of the card spread over its width."""
    return [
        (column.x + column.width * number // (len(side) + 1), place)
        for side in (standing.places_before, standing.places_behind)
        for number, place in enumerate(side, 1)
    ]


def _widths(band: Sequence[Standing], metrics: Metrics) -> list[int]:
    """Return the cards' widths: the same for a whole band if it has the room."""
    needed = [_width(each.card, metrics) for each in band]
    same = [max(needed)] * len(band) if band else []
    return same if _total(same, metrics) <= metrics.widest else needed


def _width(card: Card, metrics: Metrics) -> int:
    return max(cell_len(str(row)) for row in card.all_rows) * metrics.cell + 2 * metrics.pad_x


def _total(widths: Sequence[int], metrics: Metrics) -> int:
    return sum(widths) + metrics.gap_x * (len(widths) - 1)


def _side_by_side(widths: Sequence[int], start: int, crossing: Sequence[int], metrics: Metrics) -> list[Column]:
    """Return columns from `start` on, with no card where a wire in `crossing` passes."""
    columns = []
    x = start
    for width in widths:
        for wire in crossing:
            if x - metrics.gap_x < wire < x + width + metrics.gap_x:
                x = wire + metrics.gap_x
        columns.append(Column(x, width))
        x += width + metrics.gap_x
    return columns
