"""The one way to get a rich console, so that every command treats terminals, pipes and encodings alike."""

from __future__ import annotations

import io
from typing import TextIO

from rich.console import Console


class _PlainConsole(Console):
    """Leaves a broken pipe to the caller: rich would end the process with status 1, "a check failed"."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def make_console(stream: TextIO) -> Console:
    """Return a console that writes to `stream`.

    Colour and cursor movement only on a terminal, colour not with NO_COLOR (no-color.org); 80 columns in a pipe
    unless COLUMNS says otherwise. What the stream's encoding lacks is written as an escape instead of failing.
    """
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return _PlainConsole(file=stream, markup=False, highlight=False, emoji=False)
