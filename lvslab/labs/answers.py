"""Answers as students write them, and whether two are the same."""

from __future__ import annotations

import re

from lvslab.errors import BadInput
from lvslab.labs.model import AnswerKind, Step

_BETWEEN_WORDS = re.compile(r"(?:\s|,|;|、|，|→|->|>)+")


def read_answer(step: Step, text: str) -> str:
    """Return an answer in its plain form. Raises BadInput for what cannot be one: a typing error is no mistake."""
    plain = plain_answer(step.answer, text)
    if step.answer is AnswerKind.NUMBER and not re.fullmatch(r"-?\d+", plain):
        raise BadInput("not a number", where=step.id, expected="a whole number", found=repr(text))
    if not plain:
        raise BadInput("an empty answer", where=step.id)
    if step.choices:
        allowed = {plain_answer(AnswerKind.TEXT, choice) for choice in step.choices}
        given = plain.split() if step.answer is AnswerKind.LIST else [plain]
        unknown = next((word for word in given if word not in allowed), None)
        if unknown is not None:
            raise BadInput(
                "not one of the choices", where=step.id, expected=", ".join(step.choices), found=repr(unknown)
            )
    return plain


def plain_answer(kind: AnswerKind, text: str) -> str:
    """Return the form in which answers are compared: small letters, single spaces, no full stop at the end."""
    lowered = text.strip().lower().removesuffix(".").removesuffix("。")
    return " ".join(_BETWEEN_WORDS.split(lowered)).strip() if kind is AnswerKind.LIST else " ".join(lowered.split())


def agree(step: Step, given: str, observed: str) -> bool:
    """Tell whether an answer is what was observed; a number that was measured may be off by a part of it."""
    if step.within_percent and step.answer is AnswerKind.NUMBER:
        return 100 * abs(int(given) - int(observed)) <= step.within_percent * abs(int(observed))
    return plain_answer(step.answer, given) == plain_answer(step.answer, observed)
