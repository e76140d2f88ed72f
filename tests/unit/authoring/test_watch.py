"""`lvslab lint --watch` checks again when a file is written, replaced, removed or comes back, and not otherwise."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lvslab.authoring.begin import topology_text
from lvslab.authoring.choices import Choices, Forwarding
from lvslab.authoring.watch import each_change

COMMAND = Path(sys.executable).with_name("lvslab")
GOOD = topology_text(Choices("mine", Forwarding.DR))


class Bored(Exception):
    """Nothing has changed for a while."""


def test_each_change_is_seen_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    def sleep(interval_s: float) -> None:
        looks.append(interval_s)
        if len(looks) % 10 == 0:
            raise Bored

    monkeypatch.setattr("lvslab.authoring.watch.time.sleep", sleep)
    first, second = tmp_path / "first", tmp_path / "second"
    changes = each_change([first, second], 0.5)
    next(changes)
    first.write_text("a")
    next(changes)
    first.write_text("ab")
    next(changes)
    (tmp_path / "new").write_text("xy")
    (tmp_path / "new").replace(first)
    next(changes)
    second.touch()
    next(changes)
    first.unlink()
    next(changes)
    with pytest.raises(Bored):
        next(changes)
    assert set(looks) == {0.5}


def test_lint_goes_on_until_it_is_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD)
    with subprocess.Popen(
        [COMMAND, "lint", "--watch", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as program:
        assert program.stdout is not None
        said = []
        for text in (GOOD.replace("method:", "methd:"), GOOD):
            said += [program.stdout.readline(), program.stdout.readline()]
            path.write_text(text)
        rest = program.stdout.readline
        said += [rest()]
        while "no faults" not in said[-1]:
            said.append(rest())
        program.send_signal(signal.SIGINT)
        assert program.wait() == 0
        assert program.stdout.read() == ""
    headings = [line for line in said if line.startswith("── ")]
    results = [line for line in said if not line.startswith("── ")]
    assert len(headings) == 3
    assert results[0] == results[-1] == "1 checked, no faults\n"
    assert all(line.startswith(f"lvslab: {path}:") for line in results[1:-1])
    assert any("did you mean 'method'?" in line for line in results[1:-1])
