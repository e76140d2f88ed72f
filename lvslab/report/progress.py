"""What is going on during long work (boot, build, traffic, judge), told on stderr.

On a terminal one line shows the present phase and is wiped when the work ends, so that the report stands alone.
In a pipe nothing is printed, because logs of scripts should hold results. With `verbose`, in either case, each
phase leaves a line with the time it took. There is no thread behind the line: lvslab forks, and a moving
spinner would compete with the guest kernel for the processor.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from lvslab.report.console import make_console
from lvslab.report.printable import printable

COUNTED_PER_LINE = 100


class Progress(Protocol):
    def phase(self, text: str) -> AbstractContextManager[None]:
        """Say that `text` is going on until the context ends; phases may be nested."""


def make_progress(stream: TextIO, *, verbose: bool) -> Progress:
    """Return the progress that suits `stream`: lines if `verbose`, else one live line, or silence in a pipe."""
    console = make_console(stream)
    if not verbose and console.is_terminal and not console.is_dumb_terminal:
        return LiveProgress(console)
    console.quiet = not verbose
    return LineProgress(console)


class LineProgress:
    """One line when a phase begins, one with its seconds when it ends, and one if it is broken off."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def phase(self, text: str) -> Iterator[None]:
        begun = time.monotonic()
        self._print(f"{text} …")
        try:
            yield
        except BaseException:
            self._print(f"{text}: broken off after {time.monotonic() - begun:.2f} s")
            raise
        self._print(f"{text}: {time.monotonic() - begun:.2f} s")

    def _print(self, line: str) -> None:
        self._console.print(Text(printable(line)), soft_wrap=True)


class LiveProgress:
    """One line on a terminal: the phases under way, outermost first."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._phases: list[str] = []

    @contextmanager
    def phase(self, text: str) -> Iterator[None]:
        self._phases.append(printable(text).replace("\n", " "))
        self._draw()
        try:
            yield
        finally:
            self._phases.pop()
            self._draw()

    def _draw(self) -> None:
        self._console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
        if self._phases:
            line = Text(": ".join(self._phases) + " …", style="dim")
            # One column short of the width: a full line would make some terminals wrap.
            line.truncate(self._console.width - 1, overflow="ellipsis")
            self._console.print(line, end="", no_wrap=True)
        self._console.file.flush()


class Counter:
    """Counts what is done: in place on a terminal, otherwise one line now and then."""

    def __init__(self, stream: TextIO, things: str) -> None:
        console = make_console(stream)
        self._stream = stream
        self._things = things
        self._in_place = console.is_terminal and not console.is_dumb_terminal
        self._done = 0

    def count(self) -> None:
        self._done += 1
        if self._in_place:
            # The next line that is printed begins at the left again, and is the longer one.
            self._stream.write(f"\r  {self._done} {self._things}\r")
            self._stream.flush()
        elif self._done % COUNTED_PER_LINE == 0:
            self._stream.write(f"  {self._done} {self._things}\n")
            self._stream.flush()
