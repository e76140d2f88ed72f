"""Hop after hop, by keyboard and by buttons: the text, the table and the drawing say the same."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lvslab.walk.phrases import Language
from tests.browser.conftest import Open, Opened

SYN = [
    "Hop 1 of 50 · Frame 5 · client:eth0 out",
    "Hop 2 of 50 · Frame 6 · router:eth0 in",
    "Hop 3 of 50 · Frame 13 · router:eth1 out",
    "Hop 4 of 50 · Frame 14 · director:eth0 in",
    "Hop 5 of 50 · Frame 21 · director:eth0 out",
    "Hop 6 of 50 · Frame 22 · rs2:eth0 in",
]


def place(opened: Opened) -> str:
    return opened.text(".now .place")


def current(opened: Opened) -> list[str]:
    """Return the ids of the marked rows."""
    found: list[str] = opened.page.eval_on_selector_all("tr.current", "rows => rows.map(row => row.id)")
    return found


def packet_position(opened: Opened) -> tuple[float, float]:
    box = opened.page.locator(".packet .inner").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_arrow_keys_go_from_hop_to_hop(open_page: Open) -> None:
    opened = open_page("dr")
    opened.page.locator(".stage").scroll_into_view_if_needed()
    seen = [place(opened)]
    for _ in SYN[1:]:
        opened.page.keyboard.press("ArrowRight")
        seen.append(place(opened))
    assert seen == SYN
    assert current(opened) == ["frame-22"]
    opened.page.keyboard.press("ArrowLeft")
    assert place(opened) == SYN[4]
    assert opened.text(".said .sentence").startswith("director: destination MAC rewritten to rs2; TTL 63 → 62")


def test_shift_goes_from_packet_to_packet(open_page: Open) -> None:
    opened = open_page("dr")
    opened.page.locator(".stage").scroll_into_view_if_needed()
    opened.page.keyboard.press("Shift+ArrowRight")
    assert opened.text(".said .sentence") == "Reply: TCP SYN-ACK, rs2 → router → client"
    opened.page.keyboard.press("Shift+ArrowLeft")
    assert place(opened) == SYN[0]


def test_the_buttons_do_the_same_and_end_at_both_ends(open_page: Open) -> None:
    opened = open_page("dr")
    first, back, on, last = (
        opened.page.get_by_role("button", name=f"{name} hop") for name in ("First", "Previous", "Next", "Last")
    )
    expect(first).to_be_disabled()
    expect(back).to_be_disabled()
    on.click()
    assert place(opened) == SYN[1]
    last.click()
    expect(on).to_be_disabled()
    expect(last).to_be_disabled()
    assert place(opened).startswith("Hop 50 of 50")
    back.click()
    assert place(opened).startswith("Hop 49 of 50")
    first.click()
    assert place(opened) == SYN[0]


def test_a_screen_reader_hears_each_step(open_page: Open) -> None:
    opened = open_page("dr")
    opened.page.get_by_role("button", name="Next hop").click()
    status = opened.page.get_by_role("status")
    assert "router:eth0 in" in status.inner_text()
    assert opened.page.locator("[aria-current=step]").get_attribute("id") == "frame-6"


def test_the_packet_moves_over_the_drawing(open_page: Open) -> None:
    opened = open_page("tun", reduced_motion="reduce")
    cards = {
        name: opened.page.locator("svg.topology g", has=opened.page.locator("text.name", has_text=name)).locator(
            ".card"
        )
        for name in ("client", "director", "router", "rs2")
    }
    opened.page.locator(".drawing").scroll_into_view_if_needed()
    total = int(place(opened).split(" of ")[1].split()[0])
    for step in range(total):
        name = place(opened).split(" · ")[2].split(":")[0]
        x, y = packet_position(opened)
        box = cards[name].bounding_box()
        assert box is not None
        assert box["x"] <= x <= box["x"] + box["width"], (step, name)
        assert box["y"] - 2 <= y <= box["y"] + box["height"] + 2, (step, name)
        opened.page.keyboard.press("ArrowRight")


def test_a_wrapped_packet_is_drawn_wrapped(open_page: Open) -> None:
    opened = open_page("tun", reduced_motion="reduce")
    opened.page.locator(".drawing").scroll_into_view_if_needed()
    outer = opened.page.locator(".packet .outer")
    shown = []
    for _ in range(7):
        shown.append(outer.evaluate("each => getComputedStyle(each).visibility") == "visible")
        opened.page.keyboard.press("ArrowRight")
    assert shown == [False, False, True, True, True, True, False]


@pytest.mark.parametrize(("motion", "animations"), [("reduce", 0), ("no-preference", 1)])
def test_it_glides_unless_the_reader_wants_no_motion(open_page: Open, motion: str, animations: int) -> None:
    opened = open_page("dr", reduced_motion=motion)
    opened.page.get_by_role("button", name="Next hop").click()
    assert opened.page.evaluate("document.querySelector('.packet').getAnimations().length") == animations


def test_playing_goes_on_by_itself_until_paused(open_page: Open) -> None:
    opened = open_page("dr")
    opened.page.get_by_role("button", name="Play").click()
    expect(opened.page.locator(".now .place")).to_have_text(SYN[1])
    opened.page.get_by_role("button", name="Pause").click()
    expect(opened.page.get_by_role("button", name="Play")).to_be_visible()


def test_a_link_to_a_frame_shows_it_whatever_is_filtered(open_page: Open) -> None:
    opened = open_page("arp-problem")
    opened.page.locator(".judged.fail .evidence a").first.click()
    assert current(opened) == ["frame-11"]
    assert "rs2:eth0" in place(opened)
    assert opened.text(".now .hop-card .arp").startswith("ARP operation is-at")
    assert open_page("arp-problem", at="#frame-11").text(".now .place") == place(opened)


def test_one_connection_at_a_time_or_all(open_page: Open) -> None:
    opened = open_page("dr")
    shown = opened.page.locator(".conversation:visible h3")
    assert shown.all_inner_texts() == ["Connection 1: CIP:20001 → VIP:80"]
    opened.page.get_by_label("Connection", exact=True).select_option(label="Connection 2: CIP:20002 → VIP:80")
    assert shown.all_inner_texts() == ["Connection 2: CIP:20002 → VIP:80"]
    assert "Frame" in place(opened)
    assert place(opened).startswith("Hop 1 of 5")
    opened.page.get_by_label("Connection", exact=True).select_option(label="All of them")
    assert shown.count() == opened.page.locator(".conversation").count()
    opened.page.get_by_label("Packet", exact=True).select_option(index=1)
    assert current(opened) != []


def test_clicking_a_hop_chooses_it(open_page: Open) -> None:
    opened = open_page("dr")
    opened.page.locator("#frame-13 .where").click()
    assert place(opened) == SYN[2]


def test_a_scrolling_region_keeps_its_keys(open_page: Open) -> None:
    opened = open_page("dr")
    opened.page.locator(".ladder:visible").focus()
    opened.page.keyboard.press("ArrowRight")
    assert place(opened) == SYN[0]


def test_the_stack_of_the_hop_is_shown_large_and_keeps_its_bytes_open(open_page: Open) -> None:
    opened = open_page("nat")
    opened.page.locator(".now summary").click()
    assert opened.page.locator(".now .hex").inner_text().startswith("0000  02 00 00 00")
    opened.page.get_by_role("button", name="Next hop").click()
    assert "The same bytes as in frame" in opened.text(".now details")
    opened.page.get_by_role("button", name="Next hop").click()
    assert opened.page.locator(".now .hex").is_visible()
    assert "destination port ✱ changed 80 → 8080" in opened.text(".now .h.tcp")


def test_the_same_in_chinese(open_page: Open) -> None:
    opened = open_page("dr", Language.CHINESE)
    for _ in range(4):
        opened.page.get_by_role("button", name="下一跳").click()
    assert place(opened) == "第 5 跳，共 50 跳 · 帧 21 · director:eth0 出"
    assert opened.text(".said .sentence") == "director：目的 MAC 改写为 rs2；TTL 63 → 62；IP 地址、端口、载荷不变"
    assert "目的 ✱ 已改变" in opened.text(".now .h.ethernet")
