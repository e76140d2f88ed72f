"""The golden flowcharts have been read with Mermaid's own parser (mermaid.parse, version 11.17.2)."""

from __future__ import annotations

import json
import os
import re

import pytest

from lvslab.report.graph import draw_mermaid
from tests.unit.report.graph.samples import GOLDEN, NAMES, named

NODE = re.compile(r'  (?P<id>\w+)(?:\["|\(\[")(?P<label>[^"]*)"')
LINK = re.compile(r"  (?P<left>\w+) (?:---|-\.-) (?P<right>\w+)")


@pytest.mark.parametrize("name", NAMES)
def test_the_flowchart_is_the_golden_one(name: str) -> None:
    text = draw_mermaid(named(name))
    path = GOLDEN / f"{name}.mmd"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_links_name_what_is_defined_and_everything_is_linked(name: str) -> None:
    text = draw_mermaid(named(name))
    defined = {match["id"] for match in NODE.finditer(text)}
    linked = {end for match in LINK.finditer(text) for end in match.groups()}
    assert defined == linked


@pytest.mark.parametrize("name", ["dr", "nat", "tun", "rr-dns", "meshed"])
def test_every_node_and_address_is_there_once(name: str) -> None:
    labels = [re.sub(r"<[^>]*>", " ", match["label"]) for match in NODE.finditer(draw_mermaid(named(name)))]
    for node in named(name).nodes:
        assert [label.split()[0] for label in labels].count(node.name) == 1
        for address in node.own_addresses:
            assert sum(label.split().count(str(address)) for label in labels) == 1


def test_the_title_is_yaml_and_text_is_escaped() -> None:
    lines = draw_mermaid(named("meshed"), language="en").splitlines()
    assert json.loads(lines[1].removeprefix("title: ")) == 'meshed: Two client networks <&"> and #35; a backup'
    assert draw_mermaid(named("dr"), language="zh").splitlines()[1] == 'title: "dr: 单网段直接路由"'


def test_only_a_card_that_lacks_a_setting_is_marked() -> None:
    assert "class n4 lacking" in draw_mermaid(named("broken"))
    assert not re.search(r"^  class ", draw_mermaid(named("dr-64")), re.MULTILINE)
