"""The topology as one SVG file that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from rich.cells import cell_len

from lvslab.report.graph.cards import Row
from lvslab.report.graph.geometry import Box, Layout, Metrics
from lvslab.report.graph.layout import make_layout
from lvslab.report.graph.notes import key_to_signs, make_notes
from lvslab.report.graph.phrases import ENGLISH, GraphPhrases, graph_phrases
from lvslab.report.graph.summary import summary, title_of
from lvslab.report.graph.wrapping import wrapped
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


@dataclass(frozen=True, slots=True)
class Drawing:
    """Networks, cards and notes, to be put into an SVG element of class `topology`. Pixels, from the upper left."""

    layout: Layout
    notes: tuple[PlacedText, ...]
    body: Markup
    """The elements; their classes are those of `stylesheet`."""

    @property
    def width(self) -> int:
        return self.layout.width

    @property
    def height(self) -> int:
        return max((self.layout.height, *(note.y for note in self.notes)))


def make_drawing(topology: Topology, say: GraphPhrases) -> Drawing:
    """Return the drawing of a topology without a title, for a page that has its own."""
    layout = make_layout(topology, _METRICS, say)
    notes = tuple(_notes(topology, layout, say))
    body = (
        _environment()
        .get_template("drawing.svg.j2")
        .render(
            layout=layout,
            rows=_rows,
            rule_y=_rule_y,
            half_bus=_METRICS.bus // 2,
            baseline=_BASELINE,
            label_lift=(_METRICS.gap_y - _METRICS.line) // 2,
            notes=notes,
        )
    )
    return Drawing(layout, notes, Markup(body))  # noqa: S704 - rendered with autoescape


def stylesheet() -> str:
    """Return the CSS for drawings: light or dark as the reader prefers, always light on paper."""
    return resources.files(__package__).joinpath("topology.css").read_text(encoding="utf-8")


def draw_svg(topology: Topology, *, language: str = ENGLISH) -> str:
    """Return an SVG 1.1 document in pixels."""
    say = graph_phrases(language)
    drawing = make_drawing(topology, say)
    title = f"{topology.name}: {title_of(topology, language)}"
    return (
        _environment()
        .get_template("topology.svg.j2")
        .render(
            name=topology.name,
            language=language,
            title=title,
            summary=summary(topology, say),
            summary_language=say.code,
            style=Markup(stylesheet()),  # noqa: S704 - our own file
            drawing=drawing,
            margin=_MARGIN,
            title_height=_TITLE_HEIGHT,
            width=max(drawing.width, cell_len(title) * _TITLE_CELL) + 2 * _MARGIN,
            height=_TITLE_HEIGHT + drawing.height + 2 * _MARGIN,
        )
    )


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
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


def _notes(topology: Topology, layout: Layout, say: GraphPhrases) -> Iterator[PlacedText]:
    """Yield the lines below the drawing, no wider than it."""
    columns = layout.width // _METRICS.cell
    y = layout.height + _METRICS.gap_y
    paragraphs: list[Sequence[tuple[str, str]]] = [
        [(note.heading, "heading"), *((line, "plain") for line in note.lines)] for note in make_notes(topology, say)
    ]
    paragraphs.append([(text, "plain") for text in key_to_signs((box.card for box in layout.boxes), say)])
    for paragraph in paragraphs:
        for text, css_class in paragraph:
            for number, line in enumerate(wrapped(text, columns - _INDENT)):
                yield PlacedText(_METRICS.cell * _INDENT if number else 0, y + _BASELINE, line, css_class)
                y += _METRICS.line
        y += _NOTE_GAP
