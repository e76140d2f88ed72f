"""``--html`` of walk and verify, on stored captures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lvslab.capture.pcapng import write_capture
from lvslab.cli.main import main
from tests.unit.report.html.support import CAPTURES
from tests.unit.walk import build

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    def command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([*arguments])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return command


def test_a_walk_is_written_and_still_shown(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "walk.html"
    status, out, _ = run("walk", "--from", str(CAPTURES / "dr.pcapng"), "--html", str(target), "--connection", "2")
    assert (status, "Request: TCP SYN" in out) == (0, True)
    page = target.read_text()
    assert "<h1>Direct routing on one network (dr)</h1>" in page
    assert "selected>Connection 2: CIP:20002 → VIP:80</option>" in page
    assert "<summary>5 of 5 as predicted</summary>" in page


def test_the_page_alone_goes_to_standard_output_in_the_language_asked_for(run: Run) -> None:
    status, out, _ = run("walk", "--from", str(CAPTURES / "dr.pcapng"), "--html", "-", "--lang", "zh")
    assert status == 0
    assert out.startswith("<!DOCTYPE html>")
    assert out.endswith("</html>")
    assert "<h1>单网段直接路由（dr）</h1>" in out


def test_a_capture_of_unknown_origin_is_a_page_of_packets(run: Run, tmp_path: Path) -> None:
    stored, target = tmp_path / "s.pcapng", tmp_path / "walk.html"
    write_capture(stored, build.nat(), names={})
    assert run("walk", "--from", str(stored), "--html", str(target))[0] == 0
    assert "<h1>Packets, hop by hop</h1>" in target.read_text()


def test_a_failed_verdict_is_written_and_is_still_the_exit_status(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "verify.html"
    status, out, _ = run("verify", "--from", str(CAPTURES / "arp-problem.pcapng"), "--html", str(target))
    assert (status, "FAIL" in out) == (1, True)
    assert "Verdicts: dr" in target.read_text()


@pytest.mark.parametrize("verb", ["walk", "verify"])
def test_two_reports_on_standard_output_are_refused(run: Run, verb: str) -> None:
    status, out, err = run(verb, "--from", str(CAPTURES / "dr.pcapng"), "--html", "-", "--json", "-")
    assert (status, out) == (2, "")
    assert "standard output takes one report" in err


@pytest.mark.parametrize("verb", ["walk", "verify"])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(run: Run, verb: str, tmp_path: Path) -> None:
    status, out, err = run(verb, "--from", str(CAPTURES / "dr.pcapng"), "--html", str(tmp_path / "no" / "f"))
    assert (status, out) == (2, "")
    assert "cannot write here" in err
