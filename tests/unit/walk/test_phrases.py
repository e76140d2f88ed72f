"""Every language says the same with the same facts."""

from __future__ import annotations

from dataclasses import fields
from string import Formatter

import pytest

from lvslab.walk.model import AMBIGUOUS, NOT_SEEN_TO_LEAVE
from lvslab.walk.phrases import Language, Phrases, phrases
from lvslab.walk.words import Field, Kept

TEMPLATES = [item.name for item in fields(Phrases) if item.name != "words"]
SAME_IN_CHINESE = {Field.TTL, Field.TOS}


def facts(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_names_the_same_facts_in_every_language(name: str) -> None:
    in_english, *others = [facts(getattr(phrases(language), name)) for language in Language]
    assert others == [in_english] * len(others)


@pytest.mark.parametrize("term", [*Field, *Kept, NOT_SEEN_TO_LEAVE, AMBIGUOUS])
def test_every_term_has_a_chinese_word(term: str) -> None:
    assert (phrases(Language.CHINESE).word(term) != term) == (term not in SAME_IN_CHINESE)
