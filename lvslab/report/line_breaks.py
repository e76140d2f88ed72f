"""Where a line of Chinese may end: between any two characters, but for those that may not stand at an edge of a line.

rich breaks at spaces only, so that a line of Chinese would end where the last Latin word does. The rules are those of
Unicode's UAX #14 for ideographs, opening and closing punctuation, and of the W3C's requirements for Chinese text layout
(clreq, "prohibition rules for line start and line end").
"""

from __future__ import annotations

from itertools import pairwise

from rich.cells import cell_len
from rich.console import Console, JustifyMethod, OverflowMethod
from rich.containers import Lines
from rich.text import Text

_NOT_AT_START = frozenset("，。、；：？！）】》」』”’…—～·,.;:?!)]}%")
_NOT_AT_END = frozenset("（【《「『“‘([{")
_FIRST_WIDE = "\u2e80"
"""CJK radicals, the first of the blocks whose characters are two columns wide (East Asian Width)."""


class WideText(Text):
    """Text that is wrapped by these rules; Latin words stay whole."""

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """Return the lines, none with a blank at its end."""
        if no_wrap or self.no_wrap:
            return super().wrap(console, width, justify=justify, overflow=overflow, tab_size=tab_size, no_wrap=no_wrap)
        lines = Lines()
        for paragraph in self.split("\n", allow_blank=True):
            for line in paragraph.divide(line_ends(paragraph.plain, width)):
                line.rstrip()
                lines.append(line)
        return lines


def line_ends(text: str, width: int) -> list[int]:
    """Return the offsets at which a text is broken so that each line has at most so many columns."""
    ends: list[int] = []
    begin, used = 0, 0
    for piece_begin, piece_end in _pieces(text):
        piece = text[piece_begin:piece_end]
        columns = cell_len(piece.rstrip())
        if used and used + columns > width:
            ends.append(piece_begin)
            begin, used = piece_begin, 0
        while columns > width:
            cut = _that_fits(text, begin, width)
            ends.append(cut)
            begin = cut
            columns = cell_len(text[begin:piece_end].rstrip())
            piece = text[begin:piece_end]
        used += cell_len(piece)
    return ends


def _pieces(text: str) -> list[tuple[int, int]]:
    """Return the runs of a text between places where it may be broken, blanks at the end of the run before."""
    places = [0, *(place for place in range(1, len(text)) if _may_break(text[place - 1], text[place])), len(text)]
    return [(first, last) for first, last in pairwise(places) if first < last]


def _may_break(before: str, after: str) -> bool:
    if after.isspace() or after in _NOT_AT_START or before in _NOT_AT_END:
        return False
    return before.isspace() or before >= _FIRST_WIDE or after >= _FIRST_WIDE


def _that_fits(text: str, begin: int, width: int) -> int:
    """Return where a run that is longer than a line has to be cut."""
    end = begin + 1
    while end < len(text) and cell_len(text[begin : end + 1]) <= width:
        end += 1
    return end
