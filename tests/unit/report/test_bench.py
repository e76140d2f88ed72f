"""Benchmarks in the terminal, as JSON, and drawn."""

from __future__ import annotations

import io
import json
import os
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from lvslab.bench.result import Benchmark, Chart, Column, Curve, Mark, Part
from lvslab.report.bench.axes import ticks
from lvslab.report.bench.json_document import benchmark_document
from lvslab.report.bench.svg import CHART_HEIGHT, LEFT, LETTER, RIGHT, WIDTH, draw_charts
from lvslab.report.bench.terminal import render_benchmark
from lvslab.report.console import make_console

GOLDEN = Path(__file__).parents[2] / "golden" / "charts" / "headline.svg"
SVG = "{http://www.w3.org/2000/svg}"
PART = Part(
    key="cards",
    title="Cards & <cables>",
    kernel="uml 6.1.0",
    virtual_time=False,
    columns=(Column("servers", "servers"), Column("mbit_s", "Mbit/s", 2)),
    rows=((1, 3.825), (10, 38.25)),
    facts=("Ten give ten times what one gives.",),
    chart=Chart("Cards & <cables>", "servers", "Mbit/s", (Curve("VS/DR", ((1, 3.825), (10, 38.25))),)),
    values={"ratio": 10.0},
    readings={"dr-1": (3.8, 3.9)},
)
BENCHMARK = Benchmark("headline", "What a cluster serves", (PART, replace(PART, virtual_time=True)), {"rate": "4mbit"})


def text(benchmark: Benchmark) -> str:
    stream = io.StringIO()
    make_console(stream).print(render_benchmark(benchmark))
    return stream.getvalue()


def test_the_terminal_shows_each_part_with_its_clock_its_numbers_and_what_they_say() -> None:
    shown = text(BENCHMARK)
    assert "uml 6.1.0, real time" in shown
    assert "uml 6.1.0, simulated (virtual) time" in shown
    assert shown.count("Ten give ten times what one gives.") == 2
    assert "     10    38.25" in shown


def test_json_has_rows_by_name_and_every_reading() -> None:
    document = json.loads(json.dumps(benchmark_document(BENCHMARK, "0.1.0")))
    assert document["benchmark"] == "headline"
    assert document["settings"] == {"rate": "4mbit"}
    real, virtual = document["parts"]
    assert real["rows"] == [{"servers": 1, "mbit_s": 3.825}, {"servers": 10, "mbit_s": 38.25}]
    assert real["readings"] == {"dr-1": [3.8, 3.9]}
    assert (real["virtual_time"], virtual["virtual_time"]) == (False, True)


def test_the_drawing_stands_alone_and_holds_every_point() -> None:
    drawing = draw_charts(BENCHMARK)
    root = ET.fromstring(drawing)
    assert "Cards & <cables>" in [element.text for element in root.iter(f"{SVG}text")]
    lines = [element.attrib["points"].split() for element in root.iter(f"{SVG}polyline")]
    assert [len(points) for points in lines] == [2, 2]
    assert "http" not in drawing.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in drawing


def test_higher_values_are_drawn_higher_and_inside_the_chart() -> None:
    line = next(ET.fromstring(draw_charts(BENCHMARK)).iter(f"{SVG}polyline"))
    low, high = (tuple(map(float, point.split(","))) for point in line.attrib["points"].split())
    assert low[0] < high[0]
    assert CHART_HEIGHT > low[1] > high[1] > 0


FLAT = Chart(
    "Director and servers, each with a card of 4mbit",
    "real servers",
    "Mbit/s of answers",
    (
        Curve("VS/NAT", tuple((size, 3.8) for size in range(1, 11))),
        Curve("VS/DR", tuple((size, 3.8 * size) for size in range(1, 11))),
    ),
    (Mark(2, "VS/DR ahead from 2 servers on"),),
)


def charted(*charts: Chart) -> Benchmark:
    return replace(BENCHMARK, parts=tuple(replace(PART, chart=chart) for chart in charts))


def test_a_chart_with_its_mark_is_the_golden_one() -> None:
    drawing = draw_charts(charted(FLAT))
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(drawing, encoding="utf-8")
    assert drawing == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("x", [0, 1, 2, 7, 10])
def test_a_mark_stands_at_its_value_with_its_text_inside_the_drawing(x: int) -> None:
    root = ET.fromstring(draw_charts(charted(replace(FLAT, marks=(Mark(x, FLAT.marks[0].text),)))))
    (line,) = root.iterfind(f".//{SVG}line[@class='mark']")
    (text,) = [each for each in root.iter(f"{SVG}text") if each.text == FLAT.marks[0].text]
    assert float(line.attrib["x1"]) == float(line.attrib["x2"]) == LEFT + x / 10 * (WIDTH - RIGHT - LEFT)
    start, length = float(text.attrib["x"]), LETTER * len(FLAT.marks[0].text)
    ends = (start - length, start) if "end" in text.attrib["class"].split() else (start, start + length)
    assert ends[0] >= LEFT
    assert ends[1] <= WIDTH - RIGHT
    assert not ends[0] <= float(line.attrib["x1"]) <= ends[1]


def test_a_chart_without_marks_has_no_line_for_one() -> None:
    root = ET.fromstring(draw_charts(BENCHMARK))
    assert not root.findall(f".//{SVG}line[@class='mark']")


def test_names_in_the_legend_are_apart_however_long() -> None:
    curves = tuple(Curve(f"round-robin DNS, TTL {ttl} s", ((1, ttl),)) for ttl in (10, 60))
    drawing = draw_charts(replace(BENCHMARK, parts=(replace(PART, chart=Chart("", "", "", curves)),)))
    texts = {element.text: float(element.attrib["x"]) for element in ET.fromstring(drawing).iter(f"{SVG}text")}
    assert texts["round-robin DNS, TTL 60 s"] - texts["round-robin DNS, TTL 10 s"] > 7 * len(curves[0].name)


@pytest.mark.parametrize(
    ("largest", "expected"),
    [
        (10, (0, 2, 4, 6, 8, 10)),
        (160, (0, 50, 100, 150, 200)),
        (1024.5, (0, 200, 400, 600, 800, 1000, 1200)),
        (0.03, (0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03)),
        (0, (0, 1)),
    ],
)
def test_axes_have_round_numbers_up_to_the_largest_value(largest: float, expected: tuple[float, ...]) -> None:
    assert ticks(largest) == pytest.approx(expected)
