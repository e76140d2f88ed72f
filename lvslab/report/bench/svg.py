"""A benchmark's charts, one below the other, as one SVG file that needs nothing else: no script, font or network."""

from __future__ import annotations

from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from lvslab.bench.result import Benchmark, Chart, Mark, Part
from lvslab.report.bench.axes import largest, tick_text, ticks
from lvslab.report.bench.terminal import clock

WIDTH, CHART_HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 72, 28, 84, 56
"""Around the area of a chart, in pixels."""
LEGEND_MARKER, LETTER = 44, 8
"""Room that a curve's marker takes in the legend, and each letter of its name."""
MARK_GAP = 6
"""Between a mark's line and its text."""
MARKERS = ("circle", "square", "triangle", "diamond")
"""Curves differ by more than their colour."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A round number on an axis, and where it stands."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """A curve in pixels."""

    name: str
    number: int
    marker: str
    points: tuple[tuple[float, float], ...]
    legend_x: float


@dataclass(frozen=True, slots=True)
class DrawnMark:
    """An upright line at `x`, and where its text begins, or ends if `text_ends`."""

    x: float
    text: str
    text_x: float
    text_ends: bool


@dataclass(frozen=True, slots=True)
class DrawnChart:
    """A chart in pixels, from its own upper left corner."""

    y: int
    title: str
    clock: str
    x_label: str
    y_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    curves: tuple[DrawnCurve, ...]
    marks: tuple[DrawnMark, ...]


def draw_charts(benchmark: Benchmark) -> str:
    """Return an SVG 1.1 document, light or dark as the reader prefers."""
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    drawn = [(part, part.chart) for part in benchmark.parts if part.chart is not None]
    charts = [_drawn(part, chart, number * CHART_HEIGHT) for number, (part, chart) in enumerate(drawn)]
    return environment.get_template("charts.svg.j2").render(
        title=benchmark.title,
        summary=" ".join(fact for part in benchmark.parts for fact in part.facts),
        charts=charts,
        width=WIDTH,
        height=CHART_HEIGHT * len(charts),
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=CHART_HEIGHT - BOTTOM,
    )


def _drawn(part: Part, chart: Chart, y: int) -> DrawnChart:
    points = [point for curve in chart.curves for point in curve.points]
    x_ticks, y_ticks = ticks(largest(x for x, _ in points)), ticks(largest(y for _, y in points))
    return DrawnChart(
        y=y,
        title=chart.title,
        clock=f"{part.kernel}, {clock(part)}",
        x_label=chart.x_label,
        y_label=chart.y_label,
        x_ticks=tuple(Tick(_x(value, x_ticks[-1]), tick_text(value)) for value in x_ticks),
        y_ticks=tuple(Tick(_y(value, y_ticks[-1]), tick_text(value)) for value in y_ticks),
        curves=tuple(_curves(chart, x_ticks[-1], y_ticks[-1])),
        marks=tuple(_mark(mark, x_ticks[-1]) for mark in chart.marks),
    )


def _mark(mark: Mark, x_end: float) -> DrawnMark:
    x = _x(mark.x, x_end)
    fits = x + MARK_GAP + LETTER * len(mark.text) <= WIDTH - RIGHT
    return DrawnMark(x, mark.text, text_x=x + MARK_GAP if fits else x - MARK_GAP, text_ends=not fits)


def _curves(chart: Chart, x_end: float, y_end: float) -> list[DrawnCurve]:
    step = LEGEND_MARKER + LETTER * max(len(curve.name) for curve in chart.curves)
    return [
        DrawnCurve(
            curve.name,
            number,
            MARKERS[number % len(MARKERS)],
            tuple((_x(x, x_end), _y(y, y_end)) for x, y in curve.points),
            legend_x=LEFT + number * step,
        )
        for number, curve in enumerate(chart.curves)
    ]


def _x(value: float, end: float) -> float:
    return round(LEFT + value / end * (WIDTH - RIGHT - LEFT), 1)


def _y(value: float, end: float) -> float:
    return round(CHART_HEIGHT - BOTTOM - value / end * (CHART_HEIGHT - BOTTOM - TOP), 1)
