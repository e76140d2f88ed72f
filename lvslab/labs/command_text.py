"""What a lab's author writes of commands: one program with its arguments, and what to look for in its output."""

from __future__ import annotations

import re
import shlex
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from lvslab.topology.document import OTHER_KIND

_SHELL = re.compile(r"[|&;<>()]+")


def _program(text: str) -> str:
    """Refuse what only a shell would understand: none reads it."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise _refused(f"quotes that end: {error}") from error
    if not words or any(_SHELL.fullmatch(word) for word in words):
        raise _refused("one program and its arguments; for a pipe, ';' or redirection: sh -c '…'")
    return text


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise _refused(f"a regular expression: {error}") from error
    return text


def _refused(expected: str) -> PydanticCustomError:
    return PydanticCustomError(OTHER_KIND, "cannot be used", {"expected": expected})


ProgramLine = Annotated[str, AfterValidator(_program)]
"""Split at spaces and quotes as a shell does."""
Pattern = Annotated[str, AfterValidator(_pattern)]
"""A regular expression, searched for anywhere in the output; ``^`` and ``$`` hold at each line's ends."""
