"""The topology as one SVG file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.cells import cell_len

from lvslab.report.graph.cards import Row
from lvslab.report.graph.geometry import Box, Layout, Metrics
from lvslab.report.graph.layout import make_layout
from lvslab.report.graph.notes import key_to_signs, make_notes
from lvslab.report.graph.summary import ENGLISH, summary, title_of
from lvslab.topology.model import Topology

# The usual fixed-width fonts advance 0.6 em: 13 px text takes 7.8 px a character.
_METRICS = Metrics(cell=8, line=19, rule=13, pad_x=16, pad_y=11, gap_x=28, gap_y=32, bus=6, widest=1120, narrowest=480)
_MARGIN = 28
_TITLE_HEIGHT = 48
_TITLE_CELL = 11
_BASELINE = 14
"""From the upper edge of a line to the feet of its letters."""
_NOTE_GAP = 12
_INDENT = 2


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A line of text in the drawing: left end of its baseline, in pixels."""

    x: int
    y: int
    text: str
    css_class: str
    aside: str = ""


def draw_svg(topology: Topology, *, language: str = ENGLISH) -> str:
    """Return an SVG 1.1 document in pixels, light or dark as the reader prefers, always light on paper."""
    layout = make_layout(topology, _METRICS)
    title = f"{topology.name}: {title_of(topology, language)}"
    notes = tuple(_notes(topology, layout))
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template("topology.svg.j2").render(
        name=topology.name,
        language=language,
        title=title,
        summary=summary(topology),
        layout=layout,
        rows=_rows,
        rule_y=_rule_y,
        half_bus=_METRICS.bus // 2,
        baseline=_BASELINE,
        label_lift=(_METRICS.gap_y - _METRICS.line) // 2,
        margin=_MARGIN,
        title_height=_TITLE_HEIGHT,
        notes=notes,
        width=max(layout.width, cell_len(title) * _TITLE_CELL) + 2 * _MARGIN,
        height=_TITLE_HEIGHT + max((layout.height, *(note.y for note in notes))) + 2 * _MARGIN,
    )


def _rule_y(box: Box) -> int:
    """Return where the line is between a stack's members and what they share."""
    return box.y + _METRICS.pad_y + len(box.card.rows) * _METRICS.line + _METRICS.rule // 2


def _rows(box: Box) -> Iterator[PlacedText]:
    y = box.y + _METRICS.pad_y
    for rows, gap in ((box.card.rows, 0), (box.card.shared, _METRICS.rule)):
        y += gap
        for row in rows:
            yield _placed(row, box.x + _METRICS.pad_x, y)
            y += _METRICS.line


def _placed(row: Row, x: int, y: int) -> PlacedText:
    return PlacedText(x, y + _BASELINE, row.text, row.kind, row.aside)


def _notes(topology: Topology, layout: Layout) -> Iterator[PlacedText]:
    """Yield the lines below the drawing, no wider than it."""
    columns = layout.width // _METRICS.cell
    y = layout.height + _METRICS.gap_y
    paragraphs: list[Sequence[tuple[str, str]]] = [
        [(note.heading, "heading"), *((line, "plain") for line in note.lines)] for note in make_notes(topology)
    ]
    paragraphs.append([(text, "plain") for text in key_to_signs(box.card for box in layout.boxes)])
    for paragraph in paragraphs:
        for text, css_class in paragraph:
            for number, line in enumerate(textwrap.wrap(text, columns - _INDENT)):
                yield PlacedText(_METRICS.cell * _INDENT if number else 0, y + _BASELINE, line, css_class)
                y += _METRICS.line
        y += _NOTE_GAP
