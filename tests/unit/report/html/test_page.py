"""The page as a file: valid, complete, closed, in both languages, and unmoved by what it shows."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from hashlib import sha256

import pytest
from justhtml import Element

from lvslab.capture.frame import Direction
from lvslab.report.html import (
    Packets,
    Prediction,
    Predictions,
    Prose,
    Section,
    Task,
    Tasks,
    Verdicts,
    page,
    verify_page,
    verify_sections,
)
from lvslab.verify.result import Verdict
from lvslab.walk import find_walks
from lvslab.walk.phrases import Language
from tests.unit.report.html.support import (
    STORED,
    attribute,
    elements,
    examined,
    packets_page,
    parsed,
    stored_page,
    texts,
)
from tests.unit.report.samples import HOSTILE, HOSTILE_RESULT
from tests.unit.verify.scenes import DR, topology
from tests.unit.walk import build
from tests.unit.walk.build import Scene, framed, udp
from tests.unit.walk.mixed import mixed_capture

ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><b>"


@pytest.mark.parametrize("name", STORED)
def test_a_page_is_valid_and_every_link_in_it_leads_somewhere(name: str) -> None:
    document = parsed(stored_page(name))
    ids = [attribute(node, "id") for node in elements(document, "[id]")]
    assert [each for each, times in Counter(ids).items() if times > 1] == []
    links = {attribute(node, "href") for node in elements(document, "a")}
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert links
    labelled = {attribute(node, "aria-labelledby") for node in elements(document, "[aria-labelledby]")}
    assert labelled <= set(ids)


def test_the_parser_can_find_a_fault() -> None:
    with pytest.raises(Exception, match="end tag"):
        parsed(stored_page("dr").replace("</main>", "</b></main>"))


def test_every_hop_of_the_capture_is_there_with_its_bytes() -> None:
    evidence = examined("arp-problem").evidence
    document = parsed(stored_page("arp-problem", max_hops=600))
    rows = {attribute(row, "id"): row for row in elements(document, "tr.hop")}
    hops = [hop for walk in evidence.walks.walks for hop in walk.hops]
    assert sorted(rows) == sorted(f"frame-{hop.number}" for hop in hops)
    for hop in hops:
        row = rows[f"frame-{hop.number}"]
        assert attribute(row, "data-where") == hop.where
        dumped = [" ".join(line[6:53] for line in text.splitlines()) for text in texts_of(row, "pre.hex")]
        same = re.findall(r"The same bytes as in frame (\d+)", row.to_text())
        frame = hop.frame if not same else evidence.capture.frames[int(same[0]) - 1]
        assert hop.frame.data == frame.data
        assert not dumped or bytes.fromhex(dumped[0]) == frame.data


def texts_of(node: Element, selector: str) -> list[str]:
    return [each.to_text() for each in node.query(selector)]


@pytest.mark.parametrize("language", list(Language))
def test_the_policy_allows_this_style_and_this_script_and_nothing_else(language: Language) -> None:
    text = stored_page("dr", language)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    for kind, tag in (("style-src", "style"), ("script-src", "script")):
        (body,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(body.encode()).digest()).decode()
        assert f"{kind} &#39;sha256-{digest}&#39;;" in policy
    assert policy.startswith("default-src &#39;none&#39;;")
    assert "unsafe" not in policy


@pytest.mark.parametrize("name", STORED)
def test_nothing_is_fetched_and_no_attribute_holds_code_or_style(name: str) -> None:
    document = parsed(stored_page(name))
    for tag in ("img", "link", "iframe", "object", "embed", "audio", "video", "base", "form", "image", "use"):
        assert not elements(document, tag)
    assert len(elements(document, "script")) == 1
    for node in elements(document, "*"):
        assert not [attr for attr in node.attrs if attr.startswith("on") or attr in ("style", "src", "xlink:href")]


def test_the_same_sections_give_the_same_bytes() -> None:
    pages = {verify_page([examined("dr")], language=Language.ENGLISH) for _ in range(2)}
    assert len(pages) == 1


@pytest.mark.parametrize("language", list(Language))
def test_verdicts_have_words_meanings_and_linked_evidence(language: Language) -> None:
    document = parsed(stored_page("arp-problem", language))
    failed = {Language.ENGLISH: "failed", Language.CHINESE: "未通过"}[language]
    meaning = {
        Language.ENGLISH: "Only the director answers ARP for the virtual IP.",
        Language.CHINESE: "只有调度器应答对虚拟 IP 的 ARP 询问。",
    }[language]
    assert texts(document, ".overall .verdict") == [f"✗ {failed}"]
    assert f"✗ {failed} arp-owner {meaning}" in texts(document, "summary")
    links = [attribute(node, "href") for node in elements(document, ".judged.fail .evidence a")]
    frames = [n for each in examined("arp-problem").result.expectations for n in each.frames if each.verdict == "fail"]
    assert links == [f"#frame-{number}" for number in frames]
    assert all(attribute(node, "lang") == "en" for node in elements(document, ".evidence dd") if not node.query("a"))


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (Language.ENGLISH, ["director", "method dr, scheduler rr", "default via router", "Network outside: "]),
        (Language.CHINESE, ["director 调度器", "转发方式 dr，调度算法 rr", "默认路由经 router", "网络 outside："]),
    ],
)
def test_the_drawing_speaks_the_page_s_language_alone(language: Language, said: list[str]) -> None:
    document = parsed(stored_page("dr", language))
    (text,) = texts(document, "figure.drawing svg.topology")
    for words in said:
        assert words in text
    other = {"method", "default via", "Network"} if language is Language.CHINESE else {"转发方式", "调度器"}
    assert not [words for words in other if words in text]
    (title,) = elements(document, "figure.drawing svg.topology > title")
    assert attribute(title, "lang") == ""


@pytest.mark.parametrize(("language", "tag"), [(Language.ENGLISH, "en"), (Language.CHINESE, "zh-Hans")])
def test_the_language_is_declared_and_spoken(language: Language, tag: str) -> None:
    document = parsed(stored_page("dr", language))
    (root,) = elements(document, "html")
    assert attribute(root, "lang") == tag
    sentences = texts(document, ".hop-card .sentence")
    expected = {Language.ENGLISH: "director: destination MAC rewritten", Language.CHINESE: "director：目的 MAC 改写为"}
    assert any(sentence.startswith(expected[language]) for sentence in sentences)
    assert expected[Language.ENGLISH] not in stored_page("dr", Language.CHINESE)


def test_changes_are_marked_by_a_sign_and_words() -> None:
    document = parsed(stored_page("nat"))
    marked = elements(document, ".f.changed")
    assert marked
    for field in marked:
        assert len(texts_of(field, "del")) == len(texts_of(field, "ins")) == 1
        assert [" ".join(each.split()) for each in texts_of(field, ".sign")] == ["✱ changed"]
    assert "destination port ✱ changed" in texts(document, ".f.changed dt")


def test_columns_are_in_network_order_and_name_who_was_not_reached() -> None:
    document = parsed(stored_page("dr"))
    (conversation,) = (each for each in elements(document, ".conversation") if "Connection 1:" in each.to_text()[:40])
    heads = [" ".join(text.split()) for text in texts_of(conversation, "thead th")]
    assert heads == ["Frame", "client", "router", "director", "rs2 real server"]
    assert [" ".join(text.split()) for text in texts_of(conversation, ".absent")] == ["Not on the way: rs1."]


def test_predictions_stand_beside_what_was_observed() -> None:
    document = parsed(stored_page("dr"))
    rows = texts(document, ".predictions tbody tr")
    assert rows[0] == "rr: which server gets 203.0.113.10:20001? rs2 rs2 ✓ as predicted"
    assert len(rows) == 5
    assert texts(parsed(stored_page("arp-problem")), ".predictions p") == [
        "Not predicted: no connection passed director"
    ]


def test_hostile_text_stays_text() -> None:
    scene = Scene()
    packet = udp(("192.0.2.1", 1), ("192.0.2.2", 2), ATTACK.encode())
    frame = framed("a:eth0", "b:eth0", packet)
    scene.see(f"{ATTACK}:eth0".replace(":eth0", "", 1) + ":eth0", Direction.OUT, frame)
    scene.see("b\x00\x1b[2J\udc80:eth0", Direction.IN, frame)
    walks = find_walks(scene.capture(), labels={"192.0.2.1": ATTACK})
    shown = replace(walks, names=replace(walks.names, terms={"192.0.2.2": ATTACK}))
    prose = Prose(f"# {ATTACK}\n\n{ATTACK}\n\n[x](javascript:alert(3)) ![x](http://192.0.2.9/x.png)", ATTACK)
    sections: list[Section] = [
        prose,
        Tasks(ATTACK, (Task(ATTACK, Verdict.FAIL, (ATTACK, HOSTILE)),)),
        Predictions((Prediction(ATTACK, ATTACK, ATTACK, False),), ATTACK, (ATTACK,)),
        Verdicts(HOSTILE_RESULT),
        Packets(shown, heading=ATTACK),
    ]
    text = page(ATTACK, sections, facts=[(ATTACK, HOSTILE)]).decode()
    document = parsed(text)
    assert len(elements(document, "script")) == 1
    assert not elements(document, "img")
    assert not elements(document, "main b b")
    assert not [link for link in elements(document, "a") if "javascript" in attribute(link, "href")]
    assert texts(document, "h1") == [ATTACK]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert r"b\x00\x1b[2J\udc80" in text


def test_a_capture_without_a_topology_has_no_drawing_and_says_so() -> None:
    document = parsed(packets_page(build.nat(), max_hops=600))
    assert not elements(document, "figure")
    assert "does not say which topology" in " ".join(texts(document, ".stage p"))
    assert len(elements(document, "tr.hop")) == len(build.nat().frames)


def test_everything_a_capture_may_hold_is_shown_as_valid_html() -> None:
    document = parsed(packets_page(mixed_capture(rounds=30), topology(DR), max_hops=150))
    assert elements(document, "tr.hop")
    assert "Not joined to any packet" in texts(document, "h3")


def test_a_long_frame_is_cut_and_said_to_be() -> None:
    scene = Scene()
    scene.send("a:eth0", "b:eth0", udp(("192.0.2.1", 1), ("192.0.2.2", 2), b"x" * 1900))
    document = parsed(packets_page(scene.capture()))
    size = len(scene.frames[0].data)
    assert f"Frame 1 of the capture, {size} bytes Only the first 1518 bytes are shown." in texts(document, ".bytes p")


def test_an_empty_capture_is_a_page_that_says_so() -> None:
    document = parsed(packets_page(Scene().capture()))
    assert "The capture shows no packet that could be followed." in texts(document, "main p")


def test_several_examinations_share_one_page_without_sharing_ids() -> None:
    sections = verify_sections([examined("dr"), examined("dr"), examined("nat")], language=Language.ENGLISH)
    document = parsed(page("several", sections, max_hops=90).decode())
    ids = [attribute(node, "id") for node in elements(document, "[id]")]
    assert len(ids) == len(set(ids))
    assert len(elements(document, ".packets")) == 3


def test_the_title_is_the_topologys_or_says_how_many_there_are() -> None:
    for names, title in ((["dr", "dr"], "单网段直接路由（dr）"), (["dr", "nat"], "2 个拓扑的判定")):
        text = verify_page([examined(name) for name in names], language=Language.CHINESE).decode()
        assert f"<h1>{title}</h1>" in text


def test_groups_of_packets_with_one_name_are_refused() -> None:
    section = Packets(find_walks(build.nat()))
    with pytest.raises(ValueError, match="same name"):
        page("twice", [section, section])


def test_prose_is_markdown_below_the_pages_own_headings() -> None:
    document = parsed(page("lab", [Prose("# One\n\n*two* `three`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")]).decode())
    assert texts(document, ".prose h3") == ["One"]
    assert texts(document, ".prose em") == ["two"]
    assert texts(document, ".prose td") == ["1", "2"]


def test_tasks_have_a_verdict_each() -> None:
    tasks = Tasks("Tasks", (Task("Set the sysctl.", Verdict.PASS), Task("Ping.", Verdict.FAIL, ("No answer.",))))
    document = parsed(page("lab", [tasks], language=Language.CHINESE).decode())
    assert texts(document, ".tasks li") == ["✓ 通过 Set the sysctl.", "✗ 未通过 Ping. No answer."]
