"""The exact drawings are in tests/golden/graphs; ``UPDATE_GOLDEN=1 pytest tests/unit/report/graph`` rewrites them."""

from __future__ import annotations

import io
import os

import pytest
from rich.cells import cell_len

from lvslab.report.console import make_console
from lvslab.report.graph import render_graph
from lvslab.topology import load_topology
from lvslab.topology.model import Topology
from tests.unit.report.graph.samples import GOLDEN, NAMES, named

CASES = (
    *((f"{name}-80", name, 80, "utf-8") for name in NAMES if name != "meshed"),
    ("meshed-170", "meshed", 170, "utf-8"),
    ("meshed-80", "meshed", 80, "utf-8"),
    ("tun-40", "tun", 40, "utf-8"),
    ("broken-40", "broken", 40, "utf-8"),
    ("dr-ascii", "dr", 80, "ascii"),
    ("tun-40-ascii", "tun", 40, "ascii"),
)
IN_CHINESE = (("rr-dns-zh-80", "rr-dns", 80), ("broken-zh-40", "broken", 40), ("meshed-zh-170", "meshed", 170))


def drawn(topology: Topology, *, columns: int = 80, encoding: str = "utf-8", language: str = "en") -> str:
    """What a pipe of that encoding receives."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = make_console(stream)
    console.width = columns
    console.print(render_graph(topology, language=language))
    stream.flush()
    return "".join(f"{line.rstrip()}\n" for line in raw.getvalue().decode(encoding).splitlines())


@pytest.mark.parametrize(("file", "name", "columns", "encoding"), CASES)
def test_the_drawing_is_the_golden_one(file: str, name: str, columns: int, encoding: str) -> None:
    compare(file, drawn(named(name), columns=columns, encoding=encoding))


@pytest.mark.parametrize(("file", "name", "columns"), IN_CHINESE)
def test_the_drawing_in_chinese_is_the_golden_one(file: str, name: str, columns: int) -> None:
    compare(file, drawn(named(name), columns=columns, language="zh"))


def compare(file: str, text: str) -> None:
    path = GOLDEN / f"{file}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 130])
@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_wider_than_the_terminal(name: str, columns: int) -> None:
    text = drawn(named(name), columns=columns, language="zh")
    assert max(cell_len(line) for line in text.splitlines()) <= columns


@pytest.mark.parametrize("name", ["dr", "nat", "tun", "rr-dns"])
def test_the_shipped_topologies_are_drawn_not_outlined_in_80_columns(name: str) -> None:
    text = drawn(load_topology(name))
    assert "═" in text
    assert "see above" not in text


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("name", NAMES)
def test_without_utf8_everything_is_ascii_in_the_same_places(name: str, columns: int) -> None:
    plain, unicode = (drawn(named(name), columns=columns, encoding=each) for each in ("ascii", "utf-8"))
    assert plain.isascii()
    assert "\\u" not in plain
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in unicode.splitlines()]


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("dr-64", "broken")])
def test_every_address_is_there_once_in_the_drawing_or_outline(name: str, columns: int) -> None:
    topology = named(name)
    words = drawn(topology, columns=columns).split()
    for node in topology.nodes:
        for address in node.own_addresses:
            assert words.count(str(address)) == 1


def test_the_title_is_in_the_language_asked_for_and_falls_back() -> None:
    topology = load_topology("dr")
    assert drawn(topology, language="zh").startswith("dr: 单网段直接路由\n")
    assert drawn(topology, language="fr").startswith("dr: Direct routing on one network\n")


def test_a_removed_setting_and_a_sysctl_by_hand_are_marked_and_explained() -> None:
    text = drawn(load_topology("tun", params={"rp_filter": 1}, without=["vip@rs1"]), columns=120)
    assert text.count("✗ vip") == 1
    assert text.count("! net.ipv4.conf.tunl0.rp_filter=1") == 2
    assert text.endswith("✗ implied setting taken away\n! set by hand, beyond what is implied\n")


def test_a_correct_cluster_has_no_marks() -> None:
    text = drawn(load_topology("dr"))
    assert "✗" not in text
    assert "!" not in text


def test_a_wire_passes_over_a_network_it_does_not_belong_to() -> None:
    lines = drawn(named("meshed"), columns=170).splitlines()
    west, middle = (lines[number + 1] for number, line in enumerate(lines) if line.startswith(("west", "middle")))
    assert west.count("═│═") == 2
    assert middle.count("═│═") == 1


def test_every_stored_drawing_belongs_to_a_case() -> None:
    drawings = {f"{name}.mmd" for name in NAMES} | {f"{case[0]}.txt" for case in (*CASES, *IN_CHINESE)} | {"dr.svg"}
    assert {path.name for path in GOLDEN.iterdir()} == drawings
