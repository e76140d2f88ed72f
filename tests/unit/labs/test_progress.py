"""Progress: kept as a whole, read back as it was, and a spoiled file is said to be one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lvslab.errors import BadInput, CannotRun
from lvslab.labs.progress import (
    CURRENT,
    FILE,
    STEPS,
    Progress,
    current_lab,
    read_progress,
    setting_aside,
    state_home,
    write_progress,
)


def kept() -> Progress:
    progress = Progress("13-mine", "/labs/13-mine", "alice", "5f", 1.0, "service")
    return progress.with_step("service", attempts=2, answer="rs1")


def test_what_is_written_is_read_again() -> None:
    write_progress(kept())
    assert read_progress("13-mine") == kept()
    assert current_lab() == "13-mine"


def test_a_lab_never_begun_has_none() -> None:
    assert read_progress("13-mine") is None
    assert current_lab() is None


def test_a_write_that_is_cut_short_leaves_the_old(monkeypatch: pytest.MonkeyPatch) -> None:
    write_progress(kept())

    def killed(_self: Path, _target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_progress(kept().with_step("service", attempts=3))
    assert read_progress("13-mine") == kept()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"version": 99}', b"\xff\xfe".decode("latin-1")],
    ids=["empty", "cut", "a list", "nothing", "of the future", "no text"],
)
def test_a_spoiled_file_says_what_to_do(text: str) -> None:
    write_progress(kept())
    (state_home() / "13-mine" / FILE).write_text(text, encoding="latin-1")
    with pytest.raises(BadInput, match=r"cannot be understood.*--again"):
        read_progress("13-mine")


def step_kept(lab: str) -> Path:
    path = state_home() / lab / STEPS / "service.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")
    return path


def test_setting_aside_loses_nothing() -> None:
    write_progress(kept())
    step = step_kept("13-mine")
    with setting_aside("13-mine"):
        assert read_progress("13-mine") is None
        write_progress(Progress("13-mine", "/labs/13-mine", "bob"))
    assert not step.exists()
    (aside,) = (state_home() / "13-mine").glob("set-aside-*")
    shutil.copytree(aside, state_home() / "13-mine", dirs_exist_ok=True)
    assert read_progress("13-mine") == kept()
    assert step.exists()


@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_what_is_set_aside_comes_back_if_nothing_takes_its_place(end: BaseException) -> None:
    write_progress(kept())
    step = step_kept("13-mine")
    with pytest.raises((KeyboardInterrupt, CannotRun)), setting_aside("13-mine"):
        raise end
    assert read_progress("13-mine") == kept()
    assert step.exists()
    assert not list((state_home() / "13-mine").glob("set-aside-*"))


def test_what_is_set_aside_in_one_second_stays_apart() -> None:
    for _ in range(3):
        write_progress(kept())
        with setting_aside("13-mine"):
            pass
    assert len(list((state_home() / "13-mine").glob("set-aside-*"))) == 3


Facts = dict[str, Any]
DAMAGE: dict[str, Callable[[Facts], object]] = {
    "an unknown field": lambda facts: facts["steps"]["service"].update(stars=5),
    "hints in words": lambda facts: facts["steps"]["service"].update(hints="many"),
    "less than no hint": lambda facts: facts["steps"]["service"].update(hints=-1),
    "attempts that are a truth": lambda facts: facts["steps"]["service"].update(attempts=True),
    "an answer that is a number": lambda facts: facts["steps"]["service"].update(answer=5),
    "an answer without end": lambda facts: facts["steps"]["service"].update(answer="a" * 100_000),
    "an answer of two lines": lambda facts: facts["steps"]["service"].update(answer="a\nb"),
    "a time that is none": lambda facts: facts["steps"]["service"].update(passed_at=float("nan")),
    "a step that is none": lambda facts: facts["steps"].update(service=None),
    "steps in a list": lambda facts: facts.update(steps=[]),
    "a position that is none": lambda facts: facts.update(position=7),
    "another lab": lambda facts: facts.update(lab="03-dr"),
    "a lab elsewhere": lambda facts: facts.update(lab="../../../evil"),
    "another lab's folder": lambda facts: facts.update(folder="/labs/03-dr"),
    "an unknown language": lambda facts: facts.update(language="xx"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_refused_as_a_whole(kind: str) -> None:
    write_progress(kept())
    path = state_home() / "13-mine" / FILE
    facts = json.loads(path.read_text())
    DAMAGE[kind](facts)
    path.write_text(json.dumps(facts))
    with pytest.raises(BadInput, match=r"13-mine/progress.json: .*cannot be understood.*start FOLDER --again"):
        read_progress("13-mine")


def test_the_advice_names_the_lab() -> None:
    write_progress(Progress("03-dr", "/labs/03-dr"))
    (state_home() / "03-dr" / FILE).write_text("[" * 100_000)
    with pytest.raises(BadInput, match=r"recursion.*; lvslab lab start 03-dr --again"):
        read_progress("03-dr")


def test_what_cannot_be_opened_is_not_called_damaged() -> None:
    (state_home() / "13-mine" / FILE).mkdir(parents=True)
    with pytest.raises(CannotRun, match="cannot be read: found Is a directory"):
        read_progress("13-mine")


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"a\0b\n", b"../../evil\n", b"..\n", b"a" * 100_000])
def test_a_damaged_note_of_the_current_lab_is_said_to_be_one(content: bytes) -> None:
    write_progress(kept())
    (state_home() / CURRENT).write_bytes(content)
    with pytest.raises(BadInput, match=r"not known any more.*--lab ID") as caught:
        current_lab()
    assert len(str(caught.value)) < 1000
