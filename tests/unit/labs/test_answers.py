"""Answers: typing errors are refused, spelling differences forgiven, different answers told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lvslab.errors import BadInput
from lvslab.labs.answers import agree, read_answer
from lvslab.labs.model import AnswerKind, Step, StepKind
from lvslab.labs.words import Words


def step(kind: AnswerKind, *choices: str) -> Step:
    return Step(StepKind.QUESTION, "q", Words("q", "q"), 1, answer=kind, choices=choices)


@pytest.mark.parametrize(
    ("kind", "given", "observed", "same"),
    [
        (AnswerKind.TEXT, "02:00:00:00:03:00", "02:00:00:00:03:00", True),
        (AnswerKind.TEXT, " 198.18.0.10. ", "198.18.0.10", True),
        (AnswerKind.TEXT, "198.18.0.10", "198.18.0.11", False),
        (AnswerKind.NODE, "RS1", "rs1", True),
        (AnswerKind.LIST, "rs1, rs2,rs1", "rs1 rs2 rs1", True),
        (AnswerKind.LIST, "client → router → director", "client router director", True),
        (AnswerKind.LIST, "rs1、rs2", "rs1 rs2", True),
        (AnswerKind.LIST, "rs2 rs1", "rs1 rs2", False),
        (AnswerKind.TEXT, "synrecv", "SYN_RECV", True),
        (AnswerKind.TEXT, "syn recv", "SYN_RECV", True),
        (AnswerKind.TEXT, "Real server", "real-server", True),
        (AnswerKind.TEXT, "SYN_SENT", "SYN_RECV", False),
        (AnswerKind.LIST, "SYN_RECV fin-wait", "SYN_RECV FIN_WAIT", True),
        (AnswerKind.NUMBER, "62", "62", True),
        (AnswerKind.NUMBER, "62", "63", False),
    ],
)
def test_answers_agree_by_what_they_say(kind: AnswerKind, given: str, observed: str, same: bool) -> None:
    assert agree(step(kind), read_answer(step(kind), given), observed) is same


@pytest.mark.parametrize("text", ["\udcff\udcfe", "a" * 201, "a\x1b[1mb", "a\0"], ids=["no text", "long", "ESC", "NUL"])
@pytest.mark.parametrize("kind", AnswerKind)
def test_an_answer_is_a_short_line_of_text(kind: AnswerKind, text: str) -> None:
    with pytest.raises(BadInput, match="this is no answer: expected one line of text, at most 200 characters"):
        read_answer(step(kind), text)


def test_lines_become_spaces() -> None:
    assert read_answer(step(AnswerKind.TEXT), "SYN\n\tRECV\n") == "SYN RECV"


def test_what_is_no_number_agrees_with_none() -> None:
    """A file that somebody changed may say so."""
    assert not agree(replace(step(AnswerKind.NUMBER), within_percent=10), "many", "5")


def test_an_answer_is_kept_as_it_was_typed() -> None:
    assert read_answer(step(AnswerKind.TEXT), "  SYN  Recv ") == "SYN Recv"


@pytest.mark.parametrize(
    ("given", "observed", "same"),
    [("100", "100", True), ("85", "100", True), ("115", "100", True), ("84", "100", False), ("116", "100", False)],
)
def test_a_number_that_is_measured_may_be_off_by_a_part_of_it(given: str, observed: str, same: bool) -> None:
    measured = replace(step(AnswerKind.NUMBER), within_percent=15)
    assert agree(measured, given, observed) is same


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (step(AnswerKind.NUMBER), "sixty"),
        (step(AnswerKind.TEXT), "   "),
        (step(AnswerKind.NODE, "rs1", "rs2"), "rs3"),
        (step(AnswerKind.LIST, "rs1", "rs2"), "rs1 rs3"),
    ],
)
def test_what_can_be_no_answer_is_refused_and_not_counted_as_wrong(question: Step, given: str) -> None:
    with pytest.raises(BadInput):
        read_answer(question, given)
