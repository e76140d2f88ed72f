"""Progress: kept as a whole, read back as it was, and a spoiled file is said to be one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lvslab.errors import BadInput
from lvslab.labs.progress import (
    FILE,
    Progress,
    current_lab,
    read_progress,
    set_aside,
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


def test_unknown_fields_are_not_taken_for_known() -> None:
    write_progress(kept())
    path = state_home() / "13-mine" / FILE
    facts = json.loads(path.read_text())
    facts["steps"]["service"]["stars"] = 5
    path.write_text(json.dumps(facts))
    with pytest.raises(BadInput):
        read_progress("13-mine")


def test_setting_aside_loses_nothing() -> None:
    write_progress(kept())
    set_aside("13-mine")
    assert read_progress("13-mine") is None
    aside = list((state_home() / "13-mine").glob("progress-*.json"))
    assert json.loads(aside[0].read_text())["student"] == "alice"
