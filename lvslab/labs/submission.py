"""A submission: what a student made of a lab, as a file that an instructor's machine can do again.

It holds commands by step and node, answers, and the student's id and token; nothing in it is believed but what a
fresh network shows when the commands have been run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter

from lvslab.errors import BadInput
from lvslab.inputs import open_input
from lvslab.labs.progress import Progress
from lvslab.labs.session import Session
from lvslab.labs.snapshot import Snapshot, read_steps
from lvslab.labs.stored import STRICT, read_stored

FORMAT = "lvslab-submission"
VERSION = 1
SIZE_LIMIT = 4 << 20
"""Bytes; a lab's commands are some kilobytes."""
SUFFIX = ".lvslab.json"


@dataclass(frozen=True, slots=True)
class Submission:
    source: str
    progress: Progress
    steps: Mapping[str, Snapshot]
    """By step: what the network was like when the step passed."""


@dataclass(frozen=True, slots=True)
class _Content:
    """What the file says."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    format: Literal["lvslab-submission"]
    version: Literal[1]
    progress: Progress
    steps: Mapping[str, Mapping[str, str]]


_SHAPE = TypeAdapter(_Content)


def submission_text(session: Session) -> str:
    """Return a session as the text of a submission."""
    from dataclasses import asdict

    steps = {step_id: dict(snapshot.scripts) for step_id, snapshot in read_steps(session.guided).items()}
    progress = asdict(session.progress) | {"folder": ""}
    content = {"format": FORMAT, "version": VERSION, "progress": progress, "steps": steps}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read_submission(path: Path) -> Submission:
    """Return a submission. Raises BadInput for what is none."""
    with open_input(path, "the submission") as file:
        data = file.read(SIZE_LIMIT + 1)
    if len(data) > SIZE_LIMIT:
        raise _no_submission(path, f"more than {SIZE_LIMIT >> 20} MiB")
    try:
        content = read_stored(_SHAPE, data)
    except ValueError as error:
        raise _no_submission(path, str(error)) from error
    steps = {step_id: Snapshot(scripts) for step_id, scripts in content.steps.items()}
    return Submission(str(path), content.progress, steps)


def is_submission_of(progress: Progress, path: str) -> bool:
    """Tell whether a file is an earlier submission of the same lab by the same student."""
    if not Path(path).is_file():
        return False
    try:
        earlier = read_submission(Path(path)).progress
    except BadInput:
        return False
    return (earlier.lab, earlier.student) == (progress.lab, progress.student)


def _no_submission(path: Path, found: str) -> BadInput:
    return BadInput(
        "not a submission",
        where=str(path),
        expected=f"a file made by lvslab lab submit, version {VERSION}",
        found=found,
    )
