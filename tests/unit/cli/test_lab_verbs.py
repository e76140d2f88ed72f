"""The student's command line when what is kept, or what is typed, is damaged: one line each, and nothing of ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lvslab.cli.main import main
from lvslab.labs.progress import CURRENT, FILE, STEPS, Progress, state_home, write_progress
from lvslab.labs.shipped import find_lab_folder, shipped_labs

DR = "03-dr"


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LVSLAB_HOME", str(tmp_path / "labs"))
    monkeypatch.setenv("LANG", "C")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def begun() -> Path:
    """Lab 3 has been begun; the folder of what is kept of it."""
    write_progress(Progress(DR, str(find_lab_folder("3")), begun_at=1.0).with_step("director", passed_at=1.0))
    return state_home() / DR


def status(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["lab", *words])
    assert isinstance(left.value.code, int)
    return left.value.code


def test_one_damaged_lab_hides_no_other(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (begun / FILE).write_text("{")
    assert status("list") == 2
    written = capsys.readouterr()
    assert all(folder.name in written.out for folder in shipped_labs())
    assert f"{DR}/{FILE}: the progress file cannot be understood" in written.err
    assert written.err.count("\n") == 1

    assert status("list", "--json", "-") == 2
    faults = {row["id"]: row["fault"] for row in json.loads(capsys.readouterr().out)}
    assert [lab for lab, fault in faults.items() if fault] == [DR]


def test_sound_labs_are_listed_without_complaint(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("list", "--json", "-") == 0
    written = capsys.readouterr()
    assert written.err == ""
    assert {row["fault"] for row in json.loads(written.out)} == {None}


VERBS: dict[str, Sequence[str]] = {
    verb: (verb,) for verb in ("read", "check", "walk", "hint", "next", "solution", "reset", "status", "submit")
} | {"predict": ("predict", "1"), "answer": ("answer", "1")}
DAMAGED: dict[str, tuple[str, bytes]] = {
    "a progress file cut short": (f"{DR}/{FILE}", b"{"),
    "a progress file nested deeply": (f"{DR}/{FILE}", b"[" * 100_000),
    "no text": (CURRENT, b"\xff"),
    "a name with NUL": (CURRENT, b"a\0b"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("damage", DAMAGED)
def test_damage_is_one_line_from_every_verb(
    begun: Path, verb: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, content = DAMAGED[damage]
    (state_home() / name).write_bytes(content)
    assert status(*VERBS[verb]) == 2
    written = capsys.readouterr().err
    assert written.count("\n") == 1
    assert "lvslab lab start" in written
    assert "a fault of lvslab's own" not in written
    assert (state_home() / name).read_bytes() == content, "and it is left as it was"


def test_stop_needs_no_readable_progress(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (begun / FILE).write_text("{")
    assert status("stop") == 0
    assert capsys.readouterr().out == f"lab-{DR} was not up\n"


def test_a_damaged_step_is_not_submitted(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = begun / STEPS / "director.json"
    step.parent.mkdir()
    step.write_text("[1]")
    assert status("submit", "-o", "-") == 2
    assert f"start {DR} --again" in capsys.readouterr().err


TYPED: dict[str, tuple[Sequence[str], str]] = {
    "bytes that are no text": (["answer", "\udcff\udcfe"], "this is no answer: expected one line"),
    "an endless answer": (["predict", "a" * 100_000], "at most 200 characters, found 100000 characters"),
    "an escape sequence": (["answer", "\x1b[31mred"], "found a control character"),
    "a token for two lines": (["token", "--secret", "secret", "bob", "a\nb"], "this is no student's id"),
    "a token for no text": (["token", "--secret", "secret", "\udcff"], "this is no student's id"),
    "a capture where none can be": (["check", "--pcap", "/proc/x"], "/proc/x: cannot write here"),
    "no kernel's name": (["start", "3", "--kernel", ""], "--kernel: unknown kernel: expected native, uml"),
}


@pytest.mark.parametrize("case", TYPED)
def test_what_cannot_be_is_refused_in_one_line(begun: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("secret").write_text("the secret of this course")
    words, message = TYPED[case]
    position = {"answer": "sender", "predict": "ttl"}.get(words[0], "")
    write_progress(Progress(DR, str(find_lab_folder("3")), begun_at=1.0, position=position))
    assert status(*words) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.count("\n") == 1
    assert message in written.err
    assert len(written.err) < 500
