"""A submission: what a student made of a lab, as a file that an instructor's machine can do again.

It holds commands by step and node, answers, and the student's id and token; nothing in it is believed but what a
fresh network shows when the commands have been run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lvslab.errors import BadInput
from lvslab.inputs import open_input
from lvslab.labs.progress import Progress, progress_of
from lvslab.labs.session import Session
from lvslab.labs.snapshot import Snapshot, read_steps

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
        content: dict[str, Any] = json.loads(data)
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise ValueError(f"{content['format']} version {content['version']}")  # noqa: TRY301 - one reason among others
        steps = {str(step): Snapshot(_scripts(scripts)) for step, scripts in content["steps"].items()}
        return Submission(str(path), _sound(progress_of(content["progress"])), steps)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _no_submission(path, f"{type(error).__name__}: {error}") from error


def _sound(progress: Progress) -> Progress:
    """Return progress whose parts are of the kinds that grading takes. Raises TypeError, ValueError."""
    for text in (progress.lab, progress.student, progress.token, *progress.answers.values()):
        if not isinstance(text, str):
            raise TypeError(f"no text: {text!r}")
    if not all(isinstance(step.hints, int) for step in progress.steps.values()):
        raise TypeError("hints that are no number")
    if not all(text.isprintable() for text in (progress.lab, progress.student, progress.token)):
        raise ValueError("a name that cannot be printed")
    return progress


def _scripts(scripts: Mapping[str, Any]) -> dict[str, str]:
    if not all(isinstance(text, str) for text in scripts.values()):
        raise TypeError("a script that is no text")
    return {str(node): text for node, text in scripts.items()}


def _no_submission(path: Path, found: str) -> BadInput:
    return BadInput(
        "not a submission",
        where=str(path),
        expected=f"a file made by lvslab lab submit, version {VERSION}",
        found=found,
    )
