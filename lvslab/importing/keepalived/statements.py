"""keepalived.conf as statements: words and blocks, with their lines, whatever the keywords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from lvslab.errors import BadInput

DEPTH_LIMIT: Final = 12
"""Levels of blocks; keepalived's deepest has five."""

_WORD: Final = re.compile(
    r"""(?P<space>\s+)|(?P<comment>[!#].*)|(?P<brace>[{}])|(?P<word>(?:[^\s!#{}"'\\]|\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+)"""
)
_QUOTED: Final = re.compile(r"""\\(.)|["']""")
_CLOSING: Final = "}"


@dataclass(slots=True)
class Statement:
    """A keyword, its arguments, and the statements of its block if it has one."""

    line: int
    words: list[str]
    block: list[Statement] | None = None

    @property
    def keyword(self) -> str:
        return self.words[0]

    def argument(self, index: int = 1) -> str:
        """Return an argument, the first by default. Raises BadInput, without a place, if it is missing."""
        if len(self.words) <= index:
            raise BadInput(f"{self.keyword} without its value")
        return self.words[index]

    @property
    def within(self) -> list[Statement]:
        return [] if self.block is None else self.block

    def require_block(self) -> None:
        """Raise BadInput, without a place, if there is no block: keepalived would take what follows for it."""
        if self.block is None:
            raise BadInput(f"{self.keyword} without a block", expected="'{' after it", found=" ".join(self.words))


@dataclass(slots=True)
class _Reader:
    source: str
    top: Statement = field(default_factory=lambda: Statement(0, ["the file"], []))
    open: list[Statement] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    last: Statement | None = None
    """The statement before: an opening brace on the next line belongs to it."""

    def fault(self, what: str, line: int, next_step: str | None = None) -> BadInput:
        return BadInput(what, where=f"{self.source}:{line}", next_step=next_step)

    def end_statement(self, line: int) -> None:
        if self.words:
            self.last = Statement(line, self.words)
            self.words = []
            self.innermost.within.append(self.last)

    @property
    def innermost(self) -> Statement:
        return self.open[-1] if self.open else self.top

    def take_brace(self, brace: str, line: int) -> None:
        self.end_statement(line)
        if brace == _CLOSING:
            if not self.open:
                raise self.fault("'}' without a block", line, "check the block before: it may end too early")
            self.open.pop()
            self.last = None
        elif self.last is None:
            raise self.fault("'{' without a keyword", line)
        elif len(self.open) == DEPTH_LIMIT:
            raise self.fault("blocks nested too deeply", line)
        else:
            self.last.block = []
            self.open.append(self.last)
            self.last = None


def read_statements(text: str, source: str) -> list[Statement]:
    """Return the statements of a file. Raises BadInput where braces or quotes do not match, and for parameters
    ($NAME=…) and conditions (@id), which only keepalived can fill in.
    """
    reader = _Reader(source)
    for line, content in enumerate(text.splitlines(), 1):
        _refuse_unreadable(content, line, reader)
        for kind, piece in _pieces(content, line, reader):
            if kind == "brace":
                reader.take_brace(piece, line)
            elif kind == "word":
                reader.words.append(_QUOTED.sub(r"\1", piece))
        reader.end_statement(line)
    if reader.open:
        unclosed = reader.open[-1]
        raise reader.fault(f"block of {unclosed.keyword!r} without an end", unclosed.line, "add '}'")
    return reader.top.within


def _pieces(content: str, line: int, reader: _Reader) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(content):
        found = _WORD.match(content, position)
        if found is None:
            continued = content[position:] == "\\"
            raise reader.fault("a line that goes on ('\\')" if continued else "quotation without an end", line)
        yield str(found.lastgroup), found.group()
        position = found.end()


def _refuse_unreadable(content: str, line: int, reader: _Reader) -> None:
    beginning = content.lstrip()
    if re.match(r"\$\w+=", beginning):
        raise reader.fault("parameters ($NAME=…) are keepalived's to fill in", line, "write the values out")
    if re.match(r"@\^?\w+", beginning):
        raise reader.fault("conditions (@id) are keepalived's to decide", line, "leave the lines of one machine")
