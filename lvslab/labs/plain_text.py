"""What people type as a name or an answer: one short line that can be printed and kept."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator

from lvslab.errors import BadInput

LONGEST = 200
"""Characters; an answer is a word, a number or some names."""
_FORBIDDEN = {"Cc": "a control character", "Cs": "no UTF-8 text", "Zl": "a line's end", "Zp": "a line's end"}
"""By general category (Unicode, chapter 4.5); Python makes surrogates (Cs) of bytes that are no text (PEP 383)."""


def checked_plain(text: str) -> str:
    """Return a text that is one short line. Raises ValueError, saying what it is instead."""
    if len(text) > LONGEST:
        raise ValueError(f"{len(text)} characters")
    wrong = next((kind for kind in map(unicodedata.category, text) if kind in _FORBIDDEN), None)
    if wrong is not None:
        raise ValueError(f"{_FORBIDDEN[wrong]}: {text!r}")
    return text


PlainText = Annotated[str, AfterValidator(checked_plain)]


def require_plain(text: str, what: str) -> str:
    """Return a text that is one short line; `what` says what it should be. Raises BadInput."""
    try:
        return checked_plain(text)
    except ValueError as error:
        raise BadInput(
            f"this is no {what}", expected=f"one line of text, at most {LONGEST} characters", found=str(error)
        ) from error
