"""A submission is a file that anybody can write: whatever is in it, it is read, or refused by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lvslab.errors import BadInput
from lvslab.labs.grade import read_all
from lvslab.labs.submission import FORMAT, VERSION, read_submission

PROGRESS: dict[str, Any] = {"lab": "01-first-walk", "folder": "", "student": "alice", "token": "5f", "steps": {}}


def written(path: Path, **changes: Any) -> Path:
    progress = {**PROGRESS, "version": 1, **changes}
    content = {"format": FORMAT, "version": VERSION, "progress": progress, "steps": {}}
    path.write_text(json.dumps(content))
    return path


def test_an_honest_one_is_read(tmp_path: Path) -> None:
    assert read_submission(written(tmp_path / "a.lvslab.json")).progress.student == "alice"


@pytest.mark.parametrize(
    "changes",
    [
        {"lab": "a\0b"},
        {"lab": 5},
        {"steps": {"x": {"hints": "x"}}},
        {"steps": {"x": {"answer": 5}}},
        {"steps": []},
        {"steps": {"x": {"hints": -1}}},
        {"steps": {"x": {"passed_at": "soon"}}},
        {"position": 5},
        {"language": "xx"},
        {"token": ["a"]},
        {"student": "\ud800x"},
        {"student": "a\nb"},
        {"strange": 1},
    ],
)
def test_an_odd_one_is_refused_by_its_name_and_the_others_are_read(tmp_path: Path, changes: dict[str, Any]) -> None:
    odd, good = written(tmp_path / "odd.lvslab.json", **changes), written(tmp_path / "good.lvslab.json")
    with pytest.raises(BadInput, match=r"odd\.lvslab\.json: not a submission"):
        read_submission(odd)
    submissions, unread = read_all([odd, good])
    assert [each.progress.student for each in submissions] == ["alice"]
    assert [grade.source for grade in unread] == [str(odd)]


def test_nesting_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.lvslab.json"
    path.write_text("[" * 100_000)
    with pytest.raises(BadInput, match="not a submission"):
        read_submission(path)


def test_a_token_need_not_be_ascii_to_be_wrong(tmp_path: Path) -> None:
    from lvslab.labs.grade import refusal

    submission = read_submission(written(tmp_path / "a.lvslab.json", token="é"))
    assert "token" in refusal(submission, b"secret")
