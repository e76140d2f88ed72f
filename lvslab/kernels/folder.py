"""The folder of each lab: ownership, locks, and the removal of what dead labs left.

All labs of a user live below one folder. Each has a folder of its own that nobody else may enter, with a lock
that the lab's broker and the command that started it hold together (flock(2): freed by the kernel however they
end), a journal, and ``share/``, the one place the guest may write. Whoever can take a lab's lock knows that
both are dead and may remove the rest. What does not look like a lab's folder is never touched.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lvslab.errors import CannotRun

MARK = "LVSLAB_LAB"
"""Environment variable that the processes of a lab carry: the lab's folder."""
JOURNAL = "journal.json"
LOCK = "lock"
SHARE = "share"
KERNEL_LOG = "kernel.log"
SOCKET = "socket"
"""Where the clients of a lab that stays knock."""
SOCKET_AHEAD = "socket.ahead"
"""The same before the lab is up: only to end it."""
LAB_NAME = re.compile(r"lvslab-[a-z]+-[0-9a-f]{8}")
STDERR = 2
_OTHERS_MAY_WRITE = 0o022
_POLL_S = 0.01
_DEATH_POLLS = 300
_LOCK_POLLS = 3000


@dataclass(frozen=True, slots=True)
class LabFolder:
    """A lab's folder and the descriptor that holds its lock."""

    path: Path
    lock: int

    @property
    def share(self) -> Path:
        return self.path / SHARE


@dataclass(frozen=True, slots=True)
class Removal:
    """What became of a dead lab: its folder's name, and whether all of it could be removed."""

    name: str
    complete: bool


def labs_home() -> Path:
    """Return the folder of all the user's labs, made if need be.

    LVSLAB_HOME, else XDG_RUNTIME_DIR/lvslab, else lvslab-UID in the folder for temporary files. Raises CannotRun
    if it cannot be used, or if somebody else could put something into it.
    """
    try:
        path = _chosen_home()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.lstat()
    except OSError as error:
        where = error.filename or os.environ.get("LVSLAB_HOME", "")
        raise _unusable(Path(where), error.strerror) from error
    if not stat.S_ISDIR(status.st_mode):
        raise _unusable(path, "a link")
    if status.st_uid != os.getuid():
        raise _unusable(path, f"that it belongs to user {status.st_uid}")
    if status.st_mode & _OTHERS_MAY_WRITE:
        raise _unusable(path, "that others may write to it")
    if not os.access(path, os.W_OK | os.X_OK):
        raise _unusable(path, "that it is not writable")
    return path


def _chosen_home() -> Path:
    chosen = os.environ.get("LVSLAB_HOME")
    if chosen:
        # The user's own word may be a link. In a folder that all may write to, a link may be a trap.
        return Path(os.path.realpath(chosen))
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    # After sudo it may still be that of another user.
    if runtime and os.access(runtime, os.W_OK) and Path(runtime).stat().st_uid == os.getuid():
        return Path(runtime).resolve() / "lvslab"
    return Path(tempfile.gettempdir()).resolve() / f"lvslab-{os.getuid()}"


def _unusable(path: Path, found: str | None) -> CannotRun:
    return CannotRun(
        "the folder for labs cannot be used",
        where=str(path),
        expected=f"a folder that user {os.getuid()} and nobody else can write to",
        found=found,
        next_step="set LVSLAB_HOME to such a folder",
    )


def make_lab_folder(name: str) -> LabFolder:
    """Make and lock the folder of a new lab; `name` is a word of small letters. Raises CannotRun."""
    with all_labs_locked() as home:
        path = home / f"lvslab-{name}-{os.urandom(4).hex()}"
        try:
            path.mkdir(mode=0o700)
            (path / SHARE).mkdir(mode=0o700)
            write_journal(path, {"lab": name})
            lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            _remove_tree(path)
            raise _unusable(home, error.strerror) from error
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return LabFolder(path, lock)


def open_standard_descriptors() -> None:
    """Where one of them was closed, no socket of ours may take its number: what we start has its own there."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        pass
    os.close(descriptor)


def write_journal(path: Path, facts: dict[str, object]) -> None:
    """Replace the journal; a reader sees the old one or the new one."""
    temporary = path / (JOURNAL + ".new")
    temporary.write_text(json.dumps(facts))
    temporary.replace(path / JOURNAL)


def read_journal(path: Path) -> dict[str, object]:
    """Return what the journal says; nothing if it says nothing that makes sense."""
    try:
        facts = json.loads((path / JOURNAL).read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def remove_leftovers() -> tuple[Removal, ...]:
    """End the processes and remove the folders of labs that are dead; say which. Raises CannotRun."""
    with all_labs_locked() as home:
        dead = [path for path in sorted(home.iterdir()) if is_lab(path) and is_dead(path)]
        return tuple(Removal(path.name, remove_lab(path)) for path in dead)


def remove_lab(path: Path) -> bool:
    """End a lab's processes, then remove its folder; return whether nothing is left."""
    facts = read_journal(path)
    for _ in range(_DEATH_POLLS):
        left = _processes_of(path, facts)
        if not left:
            break
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)
    _remove_tree(path)
    return not path.exists()


def _remove_tree(path: Path) -> None:
    """Remove a folder; links in it are removed, not followed."""
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        # What ran in the lab may have left folders that even their owner may not enter.
        for folder, names, _ in os.walk(path):
            for child in (Path(folder, name) for name in names):
                if not child.is_symlink():
                    child.chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def all_labs_locked() -> Iterator[Path]:
    """Keep makers and removers of folders apart."""
    home = labs_home()
    try:
        fd = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(home, error.strerror) from error
    try:
        for _ in range(_LOCK_POLLS):
            if _take(fd):
                break
            time.sleep(_POLL_S)
        else:
            raise CannotRun(
                "another lvslab keeps the folder for labs locked",
                where=str(home),
                next_step="end it if it hangs, or set LVSLAB_HOME to another folder",
            )
        yield home
    finally:
        os.close(fd)


def _take(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_lab(path: Path) -> bool:
    """Tell whether a path is a lab's folder of this user."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return bool(LAB_NAME.fullmatch(path.name)) and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def is_dead(path: Path) -> bool:
    """Tell whether nobody holds the lab's lock. Without a lock its maker died on the way to it."""
    try:
        fd = os.open(path / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        return _take(fd)
    finally:
        os.close(fd)


def _processes_of(path: Path, facts: dict[str, object]) -> list[int]:
    """Return the lab's processes: marked in their environment, or parts of its kernel."""
    mark = f"{MARK}={path}".encode(errors="surrogateescape")
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError, ValueError, IndexError):
            if mark in (entry / "environ").read_bytes().split(b"\0") or _is_of_kernel(entry, path, facts):
                found.append(int(entry.name))
    return found


def _is_of_kernel(process: Path, path: Path, facts: dict[str, object]) -> bool:
    """Tell whether a process is of the lab's kernel, whose helpers may have memory without the mark.

    Its program, process group and working directory must all be the kernel's: numbers alone are used again.
    """
    after_name = (process / "stat").read_text().rsplit(")", 1)[1].split()
    state, group = after_name[0], int(after_name[2])
    if state in "ZX" or group != facts.get("group"):
        return False
    return str((process / "exe").readlink()) == facts.get("program") and (process / "cwd").readlink() == path
