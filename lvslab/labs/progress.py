"""How far a student has come in a lab: kept on disk, versioned, and replaced as a whole."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lvslab.errors import BadInput, CannotRun

VERSION = 1
FILE = "progress.json"
CURRENT = "current"
_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class StepProgress:
    """Times are seconds since the epoch; `answer` is what was answered or predicted."""

    passed_at: float | None = None
    attempts: int = 0
    """Checks that failed through the student's doing."""
    hints: int = 0
    gave_up: bool = False
    answer: str | None = None
    observed: str | None = None
    observed_at: str = ""
    """Where, in words that need no language: node:interface, frame number."""

    @property
    def done(self) -> bool:
        return self.passed_at is not None or self.gave_up


@dataclass(frozen=True, slots=True)
class Progress:
    """One student's way through one lab."""

    lab: str
    folder: str
    student: str = ""
    token: str = ""
    begun_at: float = 0.0
    position: str = ""
    """Id of the step the student is at."""
    network: str = ""
    """Folder of the running network, once it was ready; another one is what a start cut short has left."""
    steps: Mapping[str, StepProgress] = field(default_factory=dict)
    language: str = ""
    """Code of the language the lab was begun in (`--lang`); empty: as the environment says."""
    version: int = VERSION

    def step(self, step_id: str) -> StepProgress:
        return self.steps.get(step_id, StepProgress())

    def with_step(self, step_id: str, **changes: Any) -> Progress:
        changed = replace(self.step(step_id), **changes)
        return replace(self, steps={**self.steps, step_id: changed})

    @property
    def answers(self) -> dict[str, str]:
        return {step_id: step.answer for step_id, step in self.steps.items() if step.answer is not None}


def state_home() -> Path:
    """Return the folder for what is to survive: XDG_STATE_HOME, else ~/.local/state (XDG Base Directory)."""
    base = os.environ.get("XDG_STATE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".local" / "state"
    return root / "lvslab" / "labs"


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, error) from error
    return folder


def _unusable(path: Path, error: OSError) -> CannotRun:
    return CannotRun(
        "your progress cannot be kept",
        where=str(path),
        found=error.strerror,
        next_step="make room, or set XDG_STATE_HOME to a folder that is yours",
    )


@contextmanager
def progress_locked(lab: str) -> Iterator[None]:
    """Keep two commands at once from undoing each other's step. Raises CannotRun."""
    folder = _made(state_home() / lab)
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(folder, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_progress(progress: Progress) -> None:
    """Replace what is kept; after a crash it is the old or the new. Raises CannotRun."""
    folder = _made(state_home() / progress.lab)
    replace_file(folder / FILE, json.dumps(asdict(progress), indent=1, ensure_ascii=False) + "\n")
    replace_file(state_home() / CURRENT, progress.lab + "\n")


def replace_file(path: Path, text: str) -> None:
    """Replace a file as a whole, on disk when this returns. Raises CannotRun."""
    temporary = path.with_name(path.name + ".new")
    try:
        with temporary.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _unusable(path, error) from error


def read_progress(lab: str) -> Progress | None:
    """Return what is kept of a lab, or None if it was never begun. Raises BadInput if it cannot be understood."""
    path = state_home() / lab / FILE
    try:
        text = path.read_text()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _spoiled(path, str(error)) from error
    try:
        return progress_of(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _spoiled(path, str(error)) from error


def progress_of(facts: Mapping[str, Any]) -> Progress:
    """Return progress from plain values. Raises ValueError, TypeError or KeyError for what is none."""
    if facts["version"] != VERSION:
        raise ValueError(f"version {facts['version']}, expected {VERSION}")
    steps = {str(step_id): StepProgress(**step) for step_id, step in facts["steps"].items()}
    return Progress(**{**facts, "steps": steps})


def _spoiled(path: Path, found: str) -> BadInput:
    return BadInput(
        "the progress file cannot be understood",
        where=str(path),
        found=found,
        next_step="lvslab lab start --again begins the lab anew; the file is then kept beside it",
    )


def set_aside(lab: str) -> None:
    """Keep a progress file under another name, so that the lab can be begun anew."""
    path = state_home() / lab / FILE
    if path.exists():
        path.replace(path.with_name(f"progress-{int(path.stat().st_mtime)}.json"))


def current_lab() -> str | None:
    """Return the id of the lab that was last worked on."""
    try:
        return (state_home() / CURRENT).read_text().strip() or None
    except OSError:
        return None
