"""How walks look in the terminal, word for word, and without colour."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType
from scapy.layers.l2 import Ether

from lvslab.capture.frame import Direction
from lvslab.report.walk_terminal import render_unmatched, render_walks
from lvslab.walk import find_walks
from lvslab.walk.model import Walk, Walks
from lvslab.walk.phrases import Language, phrases
from lvslab.walk.select import arp_about, connections, opening
from tests.unit.walk import build
from tests.unit.walk.build import Scene, framed, udp

GOLDEN = Path(__file__).parents[2] / "golden" / "walks"


def printed(renderable: RenderableType, width: int = 80) -> str:
    """Return what a pipe would get."""
    file = StringIO()
    Console(file=file, width=width).print(renderable)
    return file.getvalue()


OWNERS = {"198.51.100.10": "client", "192.0.2.11": "rs1", "203.0.113.2": "director", "198.18.0.11": "rs1"}
TERMS = {"198.51.100.10": "CIP", "192.0.2.11": "RIP1", "203.0.113.2": "DIP", "198.18.0.11": "RIP1"}
CAPTURES = {
    "nat": (build.nat(), "198.51.100.100"),
    "dr": (build.dr(), "192.0.2.100"),
    "tun": (build.tun(), "203.0.113.100"),
}


def walks_of(name: str) -> Walks:
    """Return the walks of one connection, addresses named as from a topology."""
    capture, vip = CAPTURES[name]
    found = find_walks(capture, labels={**OWNERS, vip: "VIP"})
    return replace(found, names=replace(found.names, terms={**TERMS, vip: "VIP"}))


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", list(CAPTURES))
def test_golden_walks(name: str, width: int) -> None:
    found = walks_of(name)
    (connection,) = connections(found)
    text = printed(render_walks(opening(connection), names=found.names), width)
    assert text == (GOLDEN / f"{name}-{width}.txt").read_text()
    assert max(map(cell_len, text.splitlines())) <= width


def test_golden_chinese_with_arp() -> None:
    found = walks_of("dr")
    (connection,) = connections(found)
    arp = arp_about(found, "192.0.2.100")
    shown = render_walks(opening(connection), names=found.names, arp=arp, language=Language.CHINESE)
    text = printed(shown)
    assert text == (GOLDEN / "dr-zh-80.txt").read_text()
    assert max(map(cell_len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", list(CAPTURES))
def test_without_a_topology_addresses_are_numbers_and_no_line_is_too_long(name: str) -> None:
    found = find_walks(CAPTURES[name][0])
    (connection,) = connections(found)
    text = printed(render_walks(opening(connection), names=found.names))
    assert str(connection.initiator) in text
    assert "VIP" not in text
    assert max(map(cell_len, text.splitlines())) <= 80


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
    found = walks_of("nat")
    text = printed(render_walks(found.walks[2:3], names=found.names))
    row = next(line for line in text.splitlines() if "director:eth1 out" in line)
    assert row.split()[3:] == ["*director", "→", "*rs1", "CIP:40000", "→", "*RIP1:8080", "*64→63"]
    assert "\x1b" not in text


@pytest.mark.parametrize("language", list(Language))
def test_a_request_without_a_reply_is_said(language: Language) -> None:
    found = walks_of("dr")
    (connection,) = connections(found)
    notes = {}
    for name, replies in (("answered", connection.replies), ("silent", ())):
        shown = replace(connection, replies=replies)
        notes[name] = printed(render_walks(shown, names=found.names, language=language)).splitlines()[-1]
    assert notes["silent"] == phrases(language).no_reply
    assert notes["answered"] != notes["silent"]


def test_a_reply_that_does_not_get_home_is_said() -> None:
    found = walks_of("dr")
    (connection,) = connections(found)
    cut = Walk(connection.replies[0].hops[:2])
    text = printed(render_walks(replace(connection, replies=(cut,)), names=found.names))
    assert "never got back to client: last seen at router:eth1 (frame 14)" in text
    whole = printed(render_walks(connection, names=found.names))
    assert "never got back" not in whole


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
