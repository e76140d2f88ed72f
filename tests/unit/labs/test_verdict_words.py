"""Sentences of `lvslab verify` in Chinese: what labs expect is translated as the expectations say it today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lvslab.labs import verdict_words
from lvslab.labs.verdict_words import in_both_languages
from lvslab.verify import expectations

SOURCES = "\n".join(path.read_text() for path in Path(expectations.__file__).parent.glob("*.py"))


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        (
            "every call to 198.18.0.100:80 is answered by a real server",
            "对 198.18.0.100:80 的每次访问都由真实服务器应答",
        ),
        (
            "replies pass director, which rewrites their source to 198.18.0.100:80",
            "应答经过 director，由它把源改写为 198.18.0.100:80",
        ),
        (
            "3 of 3 calls failed; the first: 203.0.113.10:20001: timeout",
            "3 次访问中有 3 次失败；第一次：203.0.113.10:20001：timeout",
        ),
        ("1 call, all answered", "1 次访问，全部得到应答"),
        ("a sentence that nobody translated", "a sentence that nobody translated"),
    ],
)
def test_a_sentence_is_said_in_chinese(english: str, chinese: str) -> None:
    said = in_both_languages(english)
    assert (said.en, said.zh) == (english, chinese)


@pytest.mark.parametrize("template", verdict_words._TEMPLATES)
def test_each_template_is_of_a_sentence_that_is_said(template: str) -> None:
    """The longest piece between two holes or semicolons stands in the expectations' own text."""
    longest = max(re.split(r"\{\w+\}|; ", template), key=len).strip(" ;:,")
    assert longest in SOURCES or longest in SOURCES.replace('"\n            f"', "")
