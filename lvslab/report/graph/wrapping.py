"""Breaking the lines below a drawing, by the columns that their characters take."""

from __future__ import annotations

import textwrap
from itertools import pairwise

from rich.cells import cell_len

from lvslab.report.line_breaks import line_ends


def wrapped(text: str, columns: int, *, initial_indent: str = "", subsequent_indent: str = "") -> list[str]:
    """Return the lines of a text, as :func:`textwrap.wrap` does; wide characters by the rules of Chinese."""
    if cell_len(text) == len(text):
        return textwrap.wrap(text, columns, initial_indent=initial_indent, subsequent_indent=subsequent_indent)
    room = max(1, columns - max(cell_len(initial_indent), cell_len(subsequent_indent)))
    lines = [text[first:last].strip() for first, last in pairwise([0, *line_ends(text, room), len(text)])]
    return [f"{subsequent_indent if number else initial_indent}{line}" for number, line in enumerate(lines)]
