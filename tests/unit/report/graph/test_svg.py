"""What the file says, read back with an XML parser: content, places, and that it needs nothing else."""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from lvslab.report.graph import draw_svg
from lvslab.topology import load_topology
from tests.unit.report.graph.samples import GOLDEN, NAMES, named

SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = 8
MARGIN = 28


def parsed(name: str, language: str = "en") -> ElementTree.Element:
    return ElementTree.fromstring(draw_svg(named(name), language=language))


def cards(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}rect[@class='card']") is not None]


def extent(group: ElementTree.Element) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a card, with the sheets behind it."""
    corners = [
        (x, y, x + int(rect.get("width", "")), y + int(rect.get("height", "")))
        for rect in group.iter(f"{SVG}rect")
        if rect.get("class") in ("card", "behind")
        for x, y in [(int(rect.get("x", "")), int(rect.get("y", "")))]
    ]
    left, top, right, bottom = zip(*corners, strict=True)
    return min(left), min(top), max(right), max(bottom)


def overlap(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def text_of(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def named_and_addressed(root: ElementTree.Element) -> tuple[Counter[str], Counter[str]]:
    """Count node names and addresses on the cards, and in what a stack leaves out."""
    names: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for group in cards(root):
        lines = [text_of(text) for text in group.iter(f"{SVG}text")]
        hidden = [entry for title in group.iter(f"{SVG}title") for entry in text_of(title).split("; ")]
        names.update(line.split()[0] for line in [*lines, *hidden])
        words.update(word for line in [*lines, *hidden] for word in line.split())
    return names, words


@pytest.mark.parametrize("name", NAMES)
def test_every_node_and_address_is_there_once(name: str) -> None:
    names, words = named_and_addressed(parsed(name))
    for node in named(name).nodes:
        assert names[node.name] == 1
        assert [words[str(address)] for address in node.own_addresses] == [1] * len(node.own_addresses)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_cards_do_not_overlap_and_hold_their_text(name: str, language: str) -> None:
    root = parsed(name, language)
    _, _, width, height = map(int, root.get("viewBox", "").split())
    extents = [extent(group) for group in cards(root)]
    assert not any(overlap(one, other) for one, other in combinations(extents, 2))
    for group, (left, top, right, bottom) in zip(cards(root), extents, strict=True):
        assert 0 <= left < right < width - MARGIN
        assert 0 <= top < bottom < height - MARGIN
        for text in group.iter(f"{SVG}text"):
            assert (
                left < int(text.get("x", "")) and int(text.get("x", "")) + cell_len(text_of(text)) * CHARACTER < right
            )
            assert top < int(text.get("y", "")) < bottom


def test_the_check_for_overlaps_can_fail() -> None:
    assert overlap((0, 0, 10, 10), (9, 9, 20, 20))
    assert not overlap((0, 0, 10, 10), (10, 0, 20, 10))


@pytest.mark.parametrize("name", NAMES)
def test_it_needs_nothing_else_and_follows_the_readers_colours(name: str) -> None:
    text = draw_svg(named(name))
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    for foreign in ("url(", "@import", "@font-face", "<script", "<image", "href"):
        assert foreign not in text
    assert "@media screen and (prefers-color-scheme: dark)" in text


def test_it_has_a_title_and_a_description_for_those_who_do_not_see_it() -> None:
    root = parsed("dr", "zh")
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None and description is not None
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert (title.text, title.get("lang")) == ("dr: 单网段直接路由", "zh")
    assert (text_of(description).partition("：")[0], description.get("lang")) == ("网络 outside", "zh")


def test_text_from_the_file_is_escaped() -> None:
    title = parsed("meshed").find(f"{SVG}title")
    assert title is not None
    assert title.text == 'meshed: Two client networks <&"> and #35; a backup'


def test_a_card_that_lacks_a_setting_stands_out() -> None:
    broken = ElementTree.fromstring(draw_svg(load_topology("dr", without=["arp_ignore@rs2"])))
    lacking = [group for group in cards(broken) if "lacking" in group.get("class", "").split()]
    assert [text_of(next(group.iter(f"{SVG}text"))) for group in lacking] == ["rs2 real server"]
    assert [text.text for text in broken.iter(f"{SVG}text") if text.get("class") == "removed"] == ["✗ arp_ignore"]


def test_the_services_are_below_the_drawing() -> None:
    root = parsed("rr-dns")
    lowest = max(extent(group)[3] for group in cards(root))
    (heading,) = (text for text in root.iter(f"{SVG}text") if text.get("class") == "heading")
    assert heading.text == "www.cluster.example port 80"
    assert int(heading.get("y", "")) > lowest


def test_the_file_is_the_golden_one() -> None:
    text = draw_svg(named("dr"))
    path = GOLDEN / "dr.svg"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
