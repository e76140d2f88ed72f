"""The drawing for a terminal: box characters, or ASCII; a plain outline where the drawing is too wide."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from lvslab.report.graph.canvas import Canvas
from lvslab.report.graph.geometry import Box, Layout, Metrics, Wire
from lvslab.report.graph.layout import make_layout
from lvslab.report.graph.notes import Note, key_to_signs, make_notes
from lvslab.report.graph.outline import outline
from lvslab.report.graph.phrases import ENGLISH, GraphPhrases, graph_phrases
from lvslab.report.graph.summary import title_of
from lvslab.report.graph.wrapping import wrapped
from lvslab.topology.model import Topology

_ASCII = str.maketrans("┌┐└┘├┤┬┴┼─│═╤╧╪║…✗", "+++++++++-|=+++|.x")


def render_graph(topology: Topology, *, language: str = ENGLISH) -> RenderableType:
    """Return the topology's drawing with its title above and services and names below, as wide as the console lets."""
    return _Graph(topology, language)


class _Graph:
    def __init__(self, topology: Topology, language: str) -> None:
        self._topology = topology
        self._language = language

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(f"{self._topology.name}: {title_of(self._topology, self._language)}")
        for line in _lines(self._topology, options.max_width, graph_phrases(self._language)):
            text = line.rstrip().translate(_ASCII) if options.ascii_only else line.rstrip()
            yield Text(text, no_wrap=True, overflow="ignore")


def _lines(topology: Topology, columns: int, say: GraphPhrases) -> Iterator[str]:
    layout = make_layout(topology, _metrics(columns), say)
    yield ""
    yield from _drawing(layout) if layout.width <= columns else outline(layout, columns, say)
    for note in make_notes(topology, say):
        yield ""
        yield from _note(note, columns)
    if key := key_to_signs((box.card for box in layout.boxes), say):
        yield ""
        for text in key:
            yield from wrapped(text, columns, subsequent_indent="  ")


def _metrics(columns: int) -> Metrics:
    return Metrics(cell=1, line=1, rule=1, pad_x=2, pad_y=1, gap_x=2, gap_y=1, bus=1, widest=columns)


def _note(note: Note, columns: int) -> Iterator[str]:
    yield from wrapped(note.heading, columns, subsequent_indent="  ")
    for line in note.lines:
        yield from wrapped(line, columns, initial_indent="  ", subsequent_indent="    ")


def _drawing(layout: Layout) -> tuple[str, ...]:
    canvas = Canvas(layout.width, layout.height)
    for bus in layout.buses:
        canvas.put(0, bus.y, "═" * bus.width)
        canvas.put(bus.label_x, bus.label_y, bus.label)
    for box in layout.boxes:
        _draw_box(canvas, box)
    for wire in layout.wires:
        _draw_wire(canvas, wire)
    return canvas.lines()


def _draw_box(canvas: Canvas, box: Box) -> None:
    inner = "─" * (box.width - 2)
    canvas.put(box.x, box.y, f"┌{inner}┐")
    for y in range(box.y + 1, box.bottom - 1):
        canvas.put(box.x, y, "│")
        canvas.put(box.right - 1, y, "│")
    canvas.put(box.x, box.bottom - 1, f"└{inner}┘")
    y = box.y + 1
    for row in box.card.rows:
        canvas.put(box.x + 2, y, str(row))
        y += 1
    if box.card.shared:
        canvas.put(box.x, y, f"├{inner}┤")
    for row in box.card.shared:
        y += 1
        canvas.put(box.x + 2, y, str(row))


def _draw_wire(canvas: Canvas, wire: Wire) -> None:
    """Draw the wire over buses it only crosses, and join it to its bus and its card."""
    for y in range(wire.top, wire.bottom):
        canvas.put(wire.x, y, "│")
    canvas.join(wire.x, wire.top - 1, below=True)
    canvas.join(wire.x, wire.bottom, below=False)
