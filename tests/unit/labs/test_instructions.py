"""Texts: cut into parts, marks left out, claims with the sentence they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.errors import BadInput
from lvslab.labs.instructions import claims, read_instructions

TEXT = """\
# Title

Intro of {{ name }}.
<!-- step: one -->
## One

First. A reply passes
by. <!-- proof: check-a, verify dr --> More.
<!-- step: two -->
## Two
<!-- closing -->
That was {{ name }}.
"""


def test_the_text_is_cut_at_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "text.md"
    path.write_text(TEXT)
    read = read_instructions(path, {"name": "rs1"})
    assert read.intro == "# Title\n\nIntro of rs1.\n"
    assert list(read.steps) == ["one", "two"]
    assert "<!--" not in read.steps["one"]
    assert "by. More." in read.steps["one"]
    assert read.steps["two"] == "## Two\n"
    assert read.closing == "That was rs1.\n"


def test_a_step_twice_is_a_fault_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "text.md"
    path.write_text(TEXT + "<!-- step: one -->\n")
    with pytest.raises(BadInput, match=rf"{path}:13: a step comes twice"):
        read_instructions(path, {"name": "x"})


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (TEXT, "A reply passes by."),
        ("回答不经过调度器。它直接返回。 <!-- proof: a -->", "它直接返回。"),
        ("Two. <!-- proof: a --> Three. <!-- proof: b -->", "Two."),
    ],
)
def test_a_claim_is_the_sentence_before_its_proof(text: str, claim: str) -> None:
    assert next(claims(text)).text == claim
