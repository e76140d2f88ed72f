"""Every reader can read it: wide and narrow, light and dark, on paper, without a script, without a mouse."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lvslab.report.html import Packets, page
from lvslab.topology import load_topology
from lvslab.walk import find_walks
from lvslab.walk.phrases import Language
from tests.browser.conftest import NARROW, WIDE, Open, Opened
from tests.unit.walk import build
from tests.unit.walk.build import Scene, udp

NAMES = ("dr", "nat", "tun", "arp-problem")


def luminance(colour: str) -> float:
    """Return the relative luminance of ``rgb(…)`` (WCAG 2.2)."""
    channels = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(opened: Opened, selector: str) -> float:
    """Return the contrast of a text with what is behind it."""
    ink, paper = opened.page.locator(selector).first.evaluate(
        """element => {
            let behind = element;
            while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
            return [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor];
        }"""
    )
    dark, light = sorted((luminance(ink), luminance(paper)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["1280", "390"])
@pytest.mark.parametrize("name", NAMES)
def test_the_page_itself_never_scrolls_sideways(
    open_page: Open, name: str, viewport: dict[str, int], language: Language
) -> None:
    opened = open_page(name, language, viewport=viewport)
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    assert width == viewport["width"]


def test_a_wide_table_scrolls_in_a_labelled_region_that_the_keyboard_reaches(open_page: Open) -> None:
    opened = open_page("dr", viewport=NARROW)
    region = opened.page.get_by_role("region", name="Hops of Connection 1: CIP:20001 → VIP:80")
    assert region.evaluate("each => each.scrollWidth > each.clientWidth")
    region.focus()
    expect(region).to_be_focused()
    opened.page.keyboard.press("End")
    before = region.evaluate("each => each.scrollLeft")
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_function("before => document.activeElement.scrollLeft > before", arg=before)


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["1280", "390"])
def test_stepping_keeps_the_hop_in_sight_inside_the_table(open_page: Open, viewport: dict[str, int]) -> None:
    opened = open_page("dr", viewport=viewport, reduced_motion="reduce")
    for _ in range(5):
        opened.page.get_by_role("button", name="Next hop").click()
    region = opened.page.locator(".ladder:visible").bounding_box()
    head = opened.page.locator(".ladder:visible thead").bounding_box()
    card = opened.page.locator("#frame-22 .hop-card").bounding_box()
    assert region is not None and card is not None and head is not None
    assert region["y"] + head["height"] <= card["y"] < region["y"] + region["height"]
    assert region["x"] <= card["x"] < region["x"] + region["width"]


def test_without_a_script_every_hop_stands_in_the_tables(open_page: Open) -> None:
    opened = open_page("tun", java_script_enabled=False)
    expect(opened.page.locator(".controls")).to_be_hidden()
    expect(opened.page.locator(".now")).to_be_hidden()
    conversations = opened.page.locator(".conversation")
    for each in conversations.all():
        expect(each).to_be_visible()
    rows = opened.page.locator("tr.hop")
    assert rows.count() == 300
    expect(rows.last).to_be_visible()
    expect(opened.page.locator("svg.topology")).to_be_visible()
    summary = opened.page.locator("#frame-1 summary")
    summary.click()
    expect(opened.page.locator("#frame-1 .hex")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(open_page: Open, scheme: str) -> None:
    opened = open_page("arp-problem", color_scheme=scheme)
    opened.page.get_by_label("Connection", exact=True).select_option(value="")
    paper = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (luminance(paper) < 0.1) == (scheme == "dark")
    texts = ("h1", ".meaning", ".verdict.pass", ".verdict.fail", ".verdict.skip", ".evidence dt", ".key", ".ms", "a")
    boxes = (".ethernet > .t", ".ip > .t", ".tcp > .t", ".arp > .t", ".payload > .t", ".f dt", ".sign", "del", "ins")
    found = {selector: contrast(opened, selector) for selector in (*texts, *boxes)}
    assert {selector: ratio for selector, ratio in found.items() if ratio < 4.5} == {}


def test_paper_is_white_and_holds_the_table_without_the_controls(open_page: Open) -> None:
    opened = open_page("dr", color_scheme="dark")
    opened.page.emulate_media(media="print")
    assert luminance(opened.page.evaluate("getComputedStyle(document.body).backgroundColor")) == 1
    expect(opened.page.locator(".controls")).to_be_hidden()
    expect(opened.page.locator(".now")).to_be_hidden()
    region = opened.page.locator(".ladder:visible")
    assert region.evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    pdf = opened.page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")


def test_the_keyboard_alone_goes_through_it_in_the_order_of_reading(open_page: Open) -> None:
    opened = open_page("dr")
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.textContent") == "Skip to the packets"
    opened.page.keyboard.press("Enter")
    labels = []
    for _ in range(5):
        opened.page.keyboard.press("Tab")
        labels.append(
            opened.page.evaluate(
                "document.activeElement.labels?.[0]?.firstChild.textContent.trim() ||"
                " document.activeElement.getAttribute('aria-label')"
            )
        )
    assert labels == ["Connection", "Packet", "Play", "Next hop", "Last hop"]


def test_it_is_a_document_with_landmarks_and_headings_in_order(open_page: Open) -> None:
    opened = open_page("dr")
    for role in ("banner", "main", "contentinfo"):
        expect(opened.page.get_by_role(role)).to_have_count(1)
    levels = opened.page.eval_on_selector_all("h1,h2,h3,h4", "all => all.map(each => Number(each.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    image = opened.page.get_by_role("img", name="Network outside: client, router.")
    expect(image).to_be_visible()


def test_hostile_payloads_do_nothing(open_page: Open, tmp_path: Path) -> None:
    attack = b"</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    scene = Scene()
    scene.send("a:eth0", "b:eth0", udp(("192.0.2.1", 1), ("192.0.2.2", 2), attack))
    file = tmp_path / "hostile.html"
    file.write_bytes(page("hostile", [Packets(find_walks(scene.capture(), labels={"192.0.2.1": attack.decode()}))]))
    opened = open_page(file)
    assert opened.page.title() == "hostile – lvslab"
    assert "</script><script>" in opened.text(".now .payload")


def test_many_servers_share_a_card_on_which_the_packet_arrives(open_page: Open, tmp_path: Path) -> None:
    topology = load_topology("dr", params={"real_servers": 64})
    file = tmp_path / "many.html"
    file.write_bytes(page("many", [Packets(find_walks(build.dr()), topology)]))
    opened = open_page(file, viewport=NARROW)
    assert "rs64" in opened.text(".conversation:visible .absent")
    assert opened.page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
