from __future__ import annotations

import io
import os
import pty
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from lvslab.report.terminal import make_console, render
from lvslab.verify.result import TopologyResult
from tests.unit.report.samples import ALL, DR, EMPTY, EVERY_SHAPE, HOSTILE_RESULT, NAT, UNDECIDED

GOLDEN = Path(__file__).parents[2] / "golden" / "reports"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def printed(
    results: Sequence[TopologyResult], *, columns: int = 80, verbose: bool = False, encoding: str = "utf-8"
) -> str:
    """What a pipe of that encoding receives."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = make_console(stream)
    console.width = columns
    console.print(render(results, verbose=verbose))
    stream.flush()
    return raw.getvalue().decode(encoding)


def on_a_terminal(results: Sequence[TopologyResult]) -> str:
    """What a terminal of 80 columns receives."""
    leader, follower = pty.openpty()
    with open(follower, "w", encoding="utf-8") as stream:  # noqa: PTH123
        make_console(stream).print(render(results, verbose=False))
        stream.flush()
        received = os.read(leader, 1 << 16).decode()
    os.close(leader)
    return received


@pytest.mark.parametrize(
    ("name", "columns", "verbose", "encoding"),
    [
        ("short-80", 80, False, "utf-8"),
        ("short-40", 40, False, "utf-8"),
        ("verbose-80", 80, True, "utf-8"),
        ("verbose-40", 40, True, "utf-8"),
        ("ascii-80", 80, False, "ascii"),
    ],
)
def test_the_text_is_the_golden_one(name: str, columns: int, verbose: bool, encoding: str) -> None:
    text = printed(ALL, columns=columns, verbose=verbose, encoding=encoding)
    lines = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(lines, encoding="utf-8")
    assert lines == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("columns", [40, 59, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(columns: int, verbose: bool) -> None:
    text = printed(EVERY_SHAPE, columns=columns, verbose=verbose)
    assert max(cell_len(line) for line in text.splitlines()) <= columns


@pytest.mark.parametrize("columns", [40, 80])
def test_verdicts_are_words_and_signs(columns: int) -> None:
    text = printed(ALL, columns=columns)
    for verdict in ("✓ PASS", "✗ FAIL", "– SKIP", "! ERROR"):
        assert verdict in text


def test_without_utf8_the_signs_and_lines_are_ascii_and_wide_text_is_escaped() -> None:
    text = printed(ALL, encoding="ascii")
    for verdict in ("+ PASS", "x FAIL", "- SKIP", "! ERROR", "\\u6355"):
        assert verdict in text


def test_a_pipe_gets_no_escape_sequences_even_from_hostile_text() -> None:
    text = printed(EVERY_SHAPE, verbose=True)
    assert "\x1b" not in text
    assert "\\x1b[2J\\x00" in printed([HOSTILE_RESULT])


def test_a_terminal_gets_colour_unless_no_color_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[32m" in on_a_terminal([NAT])
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[32m" not in on_a_terminal([NAT])


def test_a_failure_tells_where_expected_seen_cause_and_next_step() -> None:
    block = printed([DR], columns=200).split("✗ FAIL dr: arp-owner\n")[1]
    labels = [line.split()[0] for line in block.split("\n\n")[0].splitlines()]
    assert labels == ["where", "expected", "seen", "cause", "next", "frames"]


def test_only_verbose_shows_what_passed_and_all_frames() -> None:
    assert "nat-request" not in printed([NAT])
    assert "nat-request" in printed([NAT], verbose=True)
    assert "and 8 more" in printed([DR])
    assert "and 8 more" not in printed([DR], verbose=True)


@pytest.mark.parametrize(
    ("results", "summary"),
    [
        ([], "Nothing was judged."),
        ([NAT], "topologies: 1 passed; checks: 2 passed; 1.7 s"),
        ([EMPTY], "topologies: 1 skipped; checks: none; 0.0 s"),
        ([DR, UNDECIDED], "topologies: 1 failed, 1 skipped; checks: 1 passed, 1 failed, 2 skipped; 0.3 s"),
    ],
)
def test_the_last_line_sums_up(results: list[TopologyResult], summary: str) -> None:
    assert printed(results).splitlines()[-1] == summary
