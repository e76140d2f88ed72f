"""How far a student has come in a lab: kept on disk, versioned, and replaced as a whole."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from lvslab.errors import BadInput, CannotRun
from lvslab.kernels.attach import NAME
from lvslab.labs.plain_text import LONGEST, PlainText
from lvslab.labs.shipped import shipped_labs
from lvslab.labs.stored import STRICT, read_stored

VERSION: Final = 1
FILE = "progress.json"
STEPS = "steps"
"""Folder of what the student had made of the network when each step passed."""
NETWORK = "network"
"""File that names the folder of the network last brought up for the lab, ready or not."""
CURRENT = "current"
_LOCK = "lock"
Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class StepProgress:
    """Times are seconds since the epoch; `answer` is what was answered or predicted."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    passed_at: float | None = None
    attempts: Count = 0
    """Checks that failed through the student's doing."""
    hints: Count = 0
    gave_up: bool = False
    answer: PlainText | None = None
    observed: str | None = None
    observed_at: str = ""
    """Where, in words that need no language: node:interface, frame number."""

    @property
    def done(self) -> bool:
        return self.passed_at is not None or self.gave_up


@dataclass(frozen=True, slots=True)
class Progress:
    """One student's way through one lab."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    lab: PlainText
    folder: str
    student: PlainText = ""
    token: PlainText = ""
    begun_at: float = 0.0
    position: str = ""
    """Id of the step the student is at."""
    network: str = ""
    """Folder of the running network, once it was ready; another one is what a start cut short has left."""
    steps: Mapping[str, StepProgress] = field(default_factory=dict)
    language: Annotated[str, Field(pattern="^(en|zh)?$")] = ""
    """Code of the language the lab was begun in (`--lang`); empty: as the environment says."""
    version: Literal[1] = VERSION

    def step(self, step_id: str) -> StepProgress:
        return self.steps.get(step_id, StepProgress())

    def with_step(self, step_id: str, **changes: Any) -> Progress:
        changed = replace(self.step(step_id), **changes)
        return replace(self, steps={**self.steps, step_id: changed})

    @property
    def answers(self) -> dict[str, str]:
        return {step_id: step.answer for step_id, step in self.steps.items() if step.answer is not None}


_SHAPE = TypeAdapter(Progress)


def network_name(lab_id: str) -> str:
    """Return what a lab's running network is called."""
    return f"lab-{lab_id}"


def is_lab_id(text: str) -> bool:
    """Tell whether a lab can have this id: it names a folder here, and the running network."""
    return text.strip(".") != "" and NAME.fullmatch(network_name(text)) is not None


def state_home() -> Path:
    """Return the folder for what is to survive: XDG_STATE_HOME, else ~/.local/state (XDG Base Directory)."""
    base = os.environ.get("XDG_STATE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".local" / "state"
    return root / "lvslab" / "labs"


def made_folder(folder: Path) -> Path:
    """Return a folder for what is to survive, made if need be. Raises CannotRun."""
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
    folder = made_folder(state_home() / lab)
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
    folder = made_folder(state_home() / progress.lab)
    replace_file(folder / FILE, json.dumps(asdict(progress), indent=1, ensure_ascii=False) + "\n")
    replace_file(state_home() / CURRENT, progress.lab + "\n")


def replace_file(path: Path, text: str) -> None:
    """Replace a file as a whole, on disk when this returns. Raises CannotRun."""
    temporary = path.with_name(path.name + ".new")
    try:
        with temporary.open("wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _unusable(path, error) from error


def read_progress(lab: str) -> Progress | None:
    """Return what is kept of a lab, or None if it was never begun.

    Raises BadInput if it cannot be understood, CannotRun if it cannot be read.
    """
    path = state_home() / lab / FILE
    try:
        progress = read_stored(_SHAPE, path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        raise _spoiled(path, lab, str(error)) from error
    if (progress.lab, Path(progress.folder).name) != (lab, lab):
        raise _spoiled(path, lab, f"lab {progress.lab!r} in {progress.folder!r}", expected=f"lab {lab!r}")
    return progress


def unreadable(path: Path, error: OSError) -> CannotRun:
    """Return what to tell of a file of the student's state that is there and cannot be opened."""
    return CannotRun(
        "what was kept cannot be read",
        where=str(path),
        found=error.strerror,
        next_step="make it yours again (chown, chmod), or set XDG_STATE_HOME to a folder that is",
    )


def start_command(lab: str, folder: str = "FOLDER") -> str:
    """Return the command that goes on with a lab; one that does not come with lvslab is named by its folder."""
    shipped = any(path.name == lab for path in shipped_labs())
    return f"lvslab lab start {lab if shipped else shlex.quote(folder)}"


def _spoiled(path: Path, lab: str, found: str, *, expected: str | None = None) -> BadInput:
    return BadInput(
        "the progress file cannot be understood",
        where=str(path),
        expected=expected,
        found=found,
        next_step=f"{start_command(lab)} --again begins the lab anew; the file is then set aside, not lost",
    )


@contextmanager
def setting_aside(lab: str) -> Iterator[None]:
    """Move what is kept of a student's way into a folder of its own, while the body writes down another.

    Copied back, it is as it was. If the body fails, or is interrupted, all is in its place again. Raises CannotRun.
    """
    home = made_folder(state_home() / lab)
    aside = _unused(home)
    try:
        aside.mkdir(mode=0o700)
        _move((FILE, STEPS), home, aside)
        yield
    except BaseException as error:
        _move((FILE, STEPS), aside, home)
        if isinstance(error, OSError):
            raise _unusable(aside, error) from error
        raise
    finally:
        with suppress(OSError):  # only an empty one goes: nothing was kept, or all is back
            aside.rmdir()


def _move(names: Sequence[str], here: Path, there: Path) -> None:
    for name in names:
        if (here / name).exists():
            (here / name).replace(there / name)


def _unused(home: Path) -> Path:
    """Return a name for what is set aside now: the time of day, and a number where that is taken."""
    name = time.strftime("set-aside-%Y%m%d-%H%M%S")
    taken = {path.name for path in home.glob(f"{name}*")}
    return home / (f"{name}-{len(taken)}" if taken else name)


def current_lab() -> str | None:
    """Return the id of the lab that was last worked on. Raises BadInput if it cannot be understood, CannotRun."""
    path = state_home() / CURRENT
    try:
        lab = path.read_bytes().decode().strip()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _no_current(path, error.object) from error
    except OSError as error:
        raise unreadable(path, error) from error
    if lab and not is_lab_id(lab):
        raise _no_current(path, lab)
    return lab or None


def _no_current(path: Path, found: str | bytes) -> BadInput:
    return BadInput(
        "which lab was last worked on is not known any more",
        where=str(path),
        expected="the id of a lab",
        found=repr(found[:LONGEST]),
        next_step="lvslab lab start ID goes on with one, or name it: --lab ID",
    )


def remember_network(lab: str, folder: str) -> None:
    """Keep the folder of a network that has been brought up for a lab. Raises CannotRun."""
    replace_file(made_folder(state_home() / lab) / NETWORK, folder + "\n")


def remembered_network(lab: str) -> str | None:
    """Return the folder of the network last brought up for a lab. Raises CannotRun."""
    path = state_home() / lab / NETWORK
    try:
        return os.fsdecode(path.read_bytes()).strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
