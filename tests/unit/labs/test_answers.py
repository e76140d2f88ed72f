"""Answers: typing errors are refused, spelling differences forgiven, different answers told apart."""

from __future__ import annotations

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
        (AnswerKind.NUMBER, "62", "62", True),
        (AnswerKind.NUMBER, "62", "63", False),
    ],
)
def test_answers_agree_by_what_they_say(kind: AnswerKind, given: str, observed: str, same: bool) -> None:
    assert agree(step(kind), read_answer(step(kind), given), observed) is same


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
