"""Runs make so that it ends with us, and tells what it compiles and why it fails."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from lvslab.agent.syscalls import die_with_parent
from lvslab.errors import CannotRun

COMPILING = "CC "
"""Begins the line that kbuild prints for each C file of the kernel (scripts/Kbuild.include: quiet_cmd)."""
ERROR_MARKS = ("error:", "*** ", "undefined reference", "No space left")
TAIL_LINES = 20


class MakeFailed(CannotRun):
    """Make did not do it; `tail` is the end of what it and the compilers said."""

    def __init__(self, goals: str, found: str, tail: tuple[str, ...]) -> None:
        super().__init__("the kernel does not build", where=f"make {goals}", found=found)
        self.tail = tail


def run_make(
    options: Sequence[str], goals: Sequence[str], environment: Mapping[str, str], told: Callable[[], None]
) -> None:
    """Run make to its end; `told` is called for each C file. Raises MakeFailed.

    Whatever ends the caller ends make and its compilers first.
    """
    first_error = ""
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    with _make(["make", *options, *goals], environment) as process:
        for line in process.stdout or ():
            tail.append(line.rstrip())
            if line.lstrip().startswith(COMPILING):
                told()
            elif not first_error and any(mark in line for mark in ERROR_MARKS):
                first_error = line.strip()
        status = process.wait()
    if status:
        raise MakeFailed(" ".join(goals), first_error or f"exit status {status}", tuple(tail))


@contextmanager
def _make(argv: Sequence[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        argv,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # A group to be killed as a whole; when we are killed ourselves, make hears of it and ends its compilers.
        start_new_session=True,
        preexec_fn=partial(die_with_parent, signal.SIGTERM),  # noqa: PLW1509 - no thread of ours is running
    ) as process:
        try:
            yield process
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
