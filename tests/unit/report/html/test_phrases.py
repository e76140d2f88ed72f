"""Both languages have everything, with the same facts in it."""

from __future__ import annotations

from dataclasses import fields
from string import Formatter

import pytest

from lvslab.report.html.phrases import PagePhrases, page_phrases
from lvslab.topology.model import Role
from lvslab.verify.result import Verdict
from lvslab.walk.phrases import Language

ENGLISH, CHINESE = page_phrases(Language.ENGLISH), page_phrases(Language.CHINESE)
TEMPLATES = [
    item.name for item in fields(PagePhrases) if item.name not in ("words", "verdict_words", "language", "tag")
]


def facts(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_phrase_is_there_in_both_languages_with_the_same_facts(name: str) -> None:
    english, chinese = getattr(ENGLISH, name), getattr(CHINESE, name)
    assert facts(english) == facts(chinese)
    assert english != chinese


def test_every_verdict_and_role_has_a_word() -> None:
    for say in (ENGLISH, CHINESE):
        assert len({say.verdict_words[verdict] for verdict in Verdict}) == len(Verdict)
    for role in Role:
        word = role.replace("-", " ")
        assert ENGLISH.word(word) == word
        assert CHINESE.word(word) != word


def test_a_word_of_the_walks_is_theirs() -> None:
    assert CHINESE.word("destination") == "目的"
    assert CHINESE.word("no such word") == "no such word"
