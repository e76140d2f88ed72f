"""Texts for people, in each language they may read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from lvslab.walk.phrases import Language

__all__ = ["Language", "Words", "frame_at", "preferred_language", "same", "words"]

LANGUAGE_VARIABLES = ("LVSLAB_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
"""The first that is set decides (locale(7)), our own before the system's."""


@dataclass(frozen=True, slots=True)
class Words:
    """One text in both languages."""

    en: str
    zh: str

    def in_(self, language: Language) -> str:
        return self.zh if language is Language.CHINESE else self.en

    def __bool__(self) -> bool:
        return bool(self.en)


NOTHING = Words("", "")


def words(en: str, zh: str, **values: object) -> Words:
    """Return both texts with `values` filled in; values that are :class:`Words` go into each in its language."""
    return Words(_filled(en, Language.ENGLISH, values), _filled(zh, Language.CHINESE, values))


def same(text: str) -> Words:
    """Return a text that is the same in every language: a name, an address, a command."""
    return Words(text, text)


def frame_at(number: int, where: str) -> Words:
    """Return where in the capture something was seen."""
    return words("frame {number} at {where}", "第 {number} 帧，在 {where}", number=number, where=where)


def _filled(template: str, language: Language, values: Mapping[str, object]) -> str:
    texts = {name: value.in_(language) if isinstance(value, Words) else value for name, value in values.items()}
    return template.format_map(texts)


def preferred_language(environment: Mapping[str, str] | None = None) -> Language:
    """Return the reader's language as the environment says it: Chinese for zh_CN and the like, else English."""
    variables = os.environ if environment is None else environment
    chosen = next((variables[name] for name in LANGUAGE_VARIABLES if variables.get(name)), "")
    return Language.CHINESE if chosen.lower().startswith("zh") else Language.ENGLISH
