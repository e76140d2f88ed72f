"""How walks look in the terminal, word for word, and without colour."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType
from scapy.layers.l2 import Ether

from lvslab.capture.frame import Capture, Direction
from lvslab.report.walk_terminal import render_unmatched, render_walks
from lvslab.walk import find_walks
from tests.unit.walk import build
from tests.unit.walk.build import Scene, framed, udp

GOLDEN = Path(__file__).parents[2] / "golden" / "walks"


def printed(renderable: RenderableType, width: int = 80) -> str:
    """Return what a pipe would get."""
    file = StringIO()
    Console(file=file, width=width).print(renderable)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "capture", "labels"),
    [
        ("nat", build.nat(), {"198.51.100.100": "VIP", "192.0.2.11": "RIP1"}),
        ("dr", build.dr(), {"192.0.2.100": "VIP"}),
        ("tun", build.tun(), {"203.0.113.100": "VIP"}),
    ],
)
def test_golden_walks(name: str, capture: Capture, labels: dict[str, str]) -> None:
    found = find_walks(capture, labels=labels)
    connection = next(c for c in found.conversations if c.protocol == "tcp")
    opening = replace(connection, requests=connection.requests[:1], replies=connection.replies[:1])
    text = printed(render_walks(opening, names=found.names))
    assert text == (GOLDEN / f"{name}.txt").read_text()
    assert max(map(len, text.splitlines())) <= 80


def test_golden_broadcast() -> None:
    found = find_walks(build.dr())
    assert printed(render_walks(found.conversations[0], names=found.names)) == (GOLDEN / "arp.txt").read_text()


def test_golden_lost_overheard_and_unmatched() -> None:
    scene = Scene()
    lost = udp(("198.51.100.10", 4000), ("192.0.2.100", 53), b"lost")
    scene.lose("client:eth0", "router:eth0", lost)
    scene.see("rs1:eth0", Direction.OVERHEARD, framed("client:eth0", "router:eth0", lost))
    scene.see("rs1:eth0", Direction.IN, Ether(src="02:00:00:00:00:99", dst=build.mac("rs1:eth0")) / lost)
    found = find_walks(scene.capture())
    text = printed(render_walks(found.walks, names=found.names))
    text += "\n" + printed(render_unmatched(found.unmatched, names=found.names))
    assert text == (GOLDEN / "unmatched.txt").read_text()


def test_changes_are_marked_without_colour() -> None:
    found = find_walks(build.nat())
    text = printed(render_walks(found.walks[2:3], names=found.names))
    row = next(line for line in text.splitlines() if "director:eth1 out" in line)
    assert "*64→63" in row
    assert row.split()[4:6] == ["*", "director"]
    assert "\x1b" not in text


def test_no_line_ends_in_blanks() -> None:
    found = find_walks(build.tun())
    for width in (80, 200):
        lines = printed(render_walks(found.conversations[0], names=found.names), width).splitlines()
        assert [line for line in lines if line != line.rstrip()] == []


def test_control_characters_in_a_files_names_do_not_reach_the_terminal() -> None:
    scene = Scene()
    scene.send("cli\x1b[2Jent:eth0", "rs1:eth0", udp(("192.0.2.1", 1), ("192.0.2.2", 2), b"x"))
    found = find_walks(scene.capture(), labels={"192.0.2.1": "\x1b]0;CIP\x07"})
    text = printed(render_walks(found.walks, names=found.names))
    assert r"cli\x1b[2Jent:eth0" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_nothing_to_show_is_said() -> None:
    found = find_walks(Scene().capture())
    assert printed(render_walks(found.walks, names=found.names)) == "no walks\n"
    assert printed(render_unmatched(found.unmatched, names=found.names)) == "every frame belongs to a walk\n"
