from __future__ import annotations

import io
import os
import pty
import re
from collections.abc import Callable
from typing import TextIO

import pytest

from lvslab.report.progress import Progress, make_progress

END = "\x04"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")


def work(progress: Progress) -> None:
    with progress.phase("boot"), progress.phase("load modules"):
        pass
    with progress.phase("judge\x1b"):
        pass


def broken_work(progress: Progress) -> None:
    with pytest.raises(KeyboardInterrupt), progress.phase("boot"):
        raise KeyboardInterrupt


def piped(do: Callable[[Progress], None], *, verbose: bool) -> str:
    stream = io.StringIO()
    do(make_progress(stream, verbose=verbose))
    return stream.getvalue()


def on_a_terminal(do: Callable[[Progress], None], *, verbose: bool = False) -> str:
    leader, follower = pty.openpty()
    stream: TextIO
    with os.fdopen(follower, "w", encoding="utf-8") as stream:
        do(make_progress(stream, verbose=verbose))
        stream.write(END)
        stream.flush()
        received = b""
        # One read may return only a part of what was written.
        while not received.endswith(END.encode()):
            received += os.read(leader, 1 << 16)
    os.close(leader)
    return received.decode().removesuffix(END)


def live_lines(received: str) -> list[str]:
    """What stood on the line after each wipe."""
    assert "\n" not in received
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in received.split("\r\x1b[2K")[1:]]


def test_a_pipe_stays_silent() -> None:
    def silent(progress: Progress) -> None:
        work(progress)
        broken_work(progress)

    assert piped(silent, verbose=False) == ""


def test_verbose_leaves_a_line_at_each_begin_and_end() -> None:
    lines = re.sub(r"\d+\.\d\d", "T", piped(work, verbose=True)).splitlines()
    assert lines == [
        "boot …",
        "load modules …",
        "load modules: T s",
        "boot: T s",
        "judge\\x1b …",
        "judge\\x1b: T s",
    ]


def test_verbose_says_when_a_phase_is_broken_off() -> None:
    assert re.fullmatch(r"boot …\nboot: broken off after \d+\.\d\d s\n", piped(broken_work, verbose=True))


def test_a_terminal_shows_one_live_line_and_ends_clean() -> None:
    assert live_lines(on_a_terminal(work)) == ["boot …", "boot: load modules…", "boot …", "", "judge\\x1b …", ""]


def test_a_terminal_is_left_clean_when_a_phase_is_broken_off() -> None:
    assert live_lines(on_a_terminal(broken_work)) == ["boot …", ""]


def test_a_dumb_terminal_stays_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")

    leader, follower = pty.openpty()
    with os.fdopen(follower, "w", encoding="utf-8") as stream:
        work(make_progress(stream, verbose=False))
        print("end", file=stream, flush=True)
        assert os.read(leader, 1 << 16) == b"end\r\n"
    os.close(leader)
