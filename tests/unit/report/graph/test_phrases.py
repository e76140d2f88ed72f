"""Both languages say everything, with the same facts in it; a drawing in Chinese has no English left in it."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from string import Formatter
from typing import Protocol

import pytest

from lvslab.report.graph import draw_mermaid, draw_svg
from lvslab.report.graph.phrases import GraphPhrases, graph_phrases
from lvslab.topology.model import Role, Topology
from tests.unit.report.graph.samples import IN_ENGLISH, NAMES, named

IN_CHINESE = graph_phrases("zh")
PHRASES = [item.name for item in fields(GraphPhrases) if item.name not in ("code", "roles")]
SIGNS_ONLY = {"comma", "semicolon", "between_names", "joint", "note"}


def holes(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


@pytest.mark.parametrize("name", PHRASES)
def test_a_phrase_has_the_same_facts_in_both_languages_and_no_english_in_chinese(name: str) -> None:
    english, chinese = getattr(IN_ENGLISH, name), getattr(IN_CHINESE, name)
    assert holes(english) == holes(chinese)
    words = re.findall(r"[A-Za-z]{2,}", re.sub(r"\{\w+\}", "", chinese))
    assert set(words) <= {"TTL"}
    assert name in SIGNS_ONLY or re.search(r"[\u4e00-\u9fff]", chinese)


@pytest.mark.parametrize("role", Role)
def test_every_role_has_a_word_of_its_own(role: Role) -> None:
    assert IN_CHINESE.role(role) != IN_ENGLISH.role(role)


class Draw(Protocol):
    def __call__(self, topology: Topology, *, language: str) -> str: ...


def text_of(drawing: str) -> str:
    """What a reader sees or hears of it."""
    return re.sub(r"<style>.*?</style>|<[^>]*>", " ", drawing, flags=re.DOTALL)


def without_title(topology: Topology) -> Topology:
    """A title may be in English only."""
    return replace(topology, title={"en": "", "zh": ""})


@pytest.mark.parametrize("draw", [draw_svg, draw_mermaid])
@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_in_chinese_says_nothing_in_english(name: str, draw: Draw) -> None:
    topology = without_title(named(name))
    english, chinese = (text_of(draw(topology, language=language)) for language in ("en", "zh"))
    said = [getattr(IN_ENGLISH, phrase) for phrase in PHRASES if phrase not in SIGNS_ONLY]
    pieces = {piece for phrase in said for piece in re.split(r"\{\w+\}", phrase) if len(piece.strip()) > 2}
    names = {"TTL", *(node.name for node in topology.nodes)}
    in_english = {piece for piece in pieces if piece in english}
    assert {"method ", "weight "} & in_english or "name server " in in_english
    assert not {piece for piece in in_english if piece in chinese and piece.strip() not in names}


def test_a_language_without_phrases_is_drawn_in_english() -> None:
    assert graph_phrases("fr") is IN_ENGLISH
