"""Which file a submission may take the place of."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from lvslab.labs.progress import Progress
from lvslab.labs.submission import FORMAT, VERSION, is_submission_of

MINE = Progress("03-dr", "", student="alice")


def written(path: Path, progress: Progress) -> str:
    content = {"format": FORMAT, "version": VERSION, "progress": asdict(progress), "steps": {}}
    path.write_text(json.dumps(content))
    return str(path)


def test_an_earlier_one_of_the_same_student_is_replaced(tmp_path: Path) -> None:
    assert is_submission_of(replace(MINE, position="later"), written(tmp_path / "x", MINE))


@pytest.mark.parametrize("other", [replace(MINE, student="bob"), replace(MINE, lab="04-tun")], ids=["student", "lab"])
def test_another_one_is_not(tmp_path: Path, other: Progress) -> None:
    assert not is_submission_of(MINE, written(tmp_path / "x", other))


def test_neither_is_anything_else(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    for name in ("notes", "nothing", "."):
        assert not is_submission_of(MINE, str(tmp_path / name))
