"""Answers as students write them, and whether two are the same.

They are kept as they were typed; what is compared is their plain form.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

from lvslab.errors import BadInput
from lvslab.labs.model import AnswerKind, Step
from lvslab.labs.plain_text import require_plain

_NUMBER = re.compile(r"-?[0-9]+")
_BETWEEN_WORDS = re.compile(r"(?:\s|,|;|、|，|→|->|>)+")


_JOINTS = re.compile(r"(?<=[a-z])[-_ ](?=[a-z])")
"""SYN_RECV, SYN-RECV, syn recv and SYNRECV name one state."""


def read_answer(step: Step, text: str) -> str:
    """Return an answer as it was typed. Raises BadInput for what cannot be one: a typing error is no mistake."""
    typed = require_plain(" ".join(text.split()), "answer")
    plain = plain_answer(step.answer, text)
    if step.answer is AnswerKind.NUMBER and not _NUMBER.fullmatch(plain):
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
    return plain if step.answer is AnswerKind.NUMBER else typed


def plain_answer(kind: AnswerKind, text: str) -> str:
    """Return the form in which answers are compared: small letters, single spaces, no full stop at the end.

    Words joined by a hyphen, an underscore or (but in lists) a space become one.
    """
    lowered = text.strip().lower().removesuffix(".").removesuffix("。")
    if kind is AnswerKind.LIST:
        return " ".join(_JOINTS.sub("", word) for word in _BETWEEN_WORDS.split(lowered)).strip()
    return _JOINTS.sub("", " ".join(lowered.split()))


def is_address(text: str) -> bool:
    """Tell whether a text is an IP address."""
    try:
        ip_address(text.strip())
    except ValueError:
        return False
    return True


def agree(step: Step, given: str, observed: str) -> bool:
    """Tell whether an answer is what was observed; a number that was measured may be off by a part of it.

    An answer may come from a file that somebody changed, and is then not always a number where one is asked for.
    """
    if step.within_percent and step.answer is AnswerKind.NUMBER and _NUMBER.fullmatch(given):
        return 100 * abs(int(given) - int(observed)) <= step.within_percent * abs(int(observed))
    return plain_answer(step.answer, given) == plain_answer(step.answer, observed)
