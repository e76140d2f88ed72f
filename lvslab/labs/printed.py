"""What a command printed, in one short line for people."""

from __future__ import annotations

from collections.abc import Sequence

from lvslab.labs.words import Words, words

_LONGEST = 160
"""Characters of output: about two lines of a terminal."""


def lines_of(output: str) -> list[str]:
    """Return the lines that are not empty, their spaces made single."""
    return [" ".join(line.split()) for line in output.splitlines() if line.strip()]


def told(run: str, lines: Sequence[str]) -> Words:
    """Say what the command `run` printed: the first of these lines, whole unless one alone is too long."""
    if not lines:
        return words("{run} prints nothing", "{run} 没有输出", run=run)
    return words("{run} prints: {shown}", "{run} 的输出：{shown}", run=run, shown=_beginning(lines))


def _beginning(lines: Sequence[str]) -> str:
    shown = lines[0] if len(lines[0]) <= _LONGEST else f"{lines[0][: _LONGEST - 1]}…"
    for line in lines[1:]:
        if len(shown) + len(line) > _LONGEST:
            return f"{shown}; …"
        shown = f"{shown}; {line}"
    return shown
