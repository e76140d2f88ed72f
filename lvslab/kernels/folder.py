"""The folder of each lab: ownership, locks, and the removal of what dead labs left.

All labs of a user live below one folder, readable by nobody else. Each has a lock that its broker holds
(flock(2): freed by the kernel however the broker ends), a journal of what was started, written before it
was started, and ``share/``, the one place the guest may write. Whoever can take a lab's lock knows that
its broker is dead and may remove the rest.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
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
"""Environment variable that every process of a lab carries: the lab's folder."""
JOURNAL = "journal.json"
LOCK = "lock"
SHARE = "share"
KERNEL_LOG = "kernel.log"
_DEATH_POLL_S = 0.01
_DEATH_POLLS = 300


@dataclass(frozen=True, slots=True)
class LabFolder:
    """A lab's folder and the descriptor that holds its lock."""

    path: Path
    lock: int

    @property
    def share(self) -> Path:
        return self.path / SHARE

    @property
    def log(self) -> Path:
        return self.path / KERNEL_LOG


def labs_home() -> Path:
    """Return the folder of all the user's labs, made if need be, entered by nobody else.

    LVSLAB_HOME, else XDG_RUNTIME_DIR/lvslab, else lvslab-UID in the folder for temporary files.
    """
    chosen = os.environ.get("LVSLAB_HOME")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if chosen:
        path = Path(chosen)
    elif runtime and os.access(runtime, os.W_OK):
        path = Path(runtime) / "lvslab"
    else:
        path = Path(tempfile.gettempdir()) / f"lvslab-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.lstat()
    except OSError as error:
        raise CannotRun(
            "the folder for labs cannot be made",
            where=str(path),
            found=error.strerror,
            next_step="set LVSLAB_HOME to a folder you can write to",
        ) from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise CannotRun(
            "the folder for labs belongs to somebody else",
            where=str(path),
            expected=f"a folder of user {os.getuid()}",
            found=f"owner {status.st_uid}",
            next_step="set LVSLAB_HOME to a folder of your own",
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        path.chmod(0o700)
    return path.resolve()


def make_lab_folder(name: str) -> LabFolder:
    """Make and lock the folder of a new lab; its journal names it before anything else exists."""
    with _all_labs_locked() as home:
        path = home / f"{name}-{secrets.token_hex(4)}"
        path.mkdir(mode=0o700)
        (path / SHARE).mkdir(mode=0o700)
        write_journal(path, {"lab": name, "boot": _boot_id()})
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return LabFolder(path, lock)


def write_journal(path: Path, facts: dict[str, object]) -> None:
    """Replace the journal; a reader sees the old one or the new one."""
    temporary = path / (JOURNAL + ".new")
    temporary.write_text(json.dumps(facts))
    temporary.replace(path / JOURNAL)


def remove_leftovers() -> tuple[str, ...]:
    """End the processes and remove the folders of labs whose broker is dead; return their names."""
    removed = []
    with _all_labs_locked() as home:
        for path in sorted(home.iterdir()):
            if path.is_dir() and _broker_is_dead(path):
                remove_lab(path)
                removed.append(path.name)
    return tuple(removed)


def remove_lab(path: Path) -> None:
    """End every process that carries the lab's mark or belongs to its kernel's group, then remove the folder."""
    facts = read_journal(path)
    same_boot = facts.get("boot") == _boot_id()
    for _ in range(_DEATH_POLLS):
        left = _processes_of(path, facts) if same_boot else []
        if not left:
            break
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_DEATH_POLL_S)
    shutil.rmtree(path, ignore_errors=True)


def read_journal(path: Path) -> dict[str, object]:
    try:
        facts = json.loads((path / JOURNAL).read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


@contextmanager
def _all_labs_locked() -> Iterator[Path]:
    """Keep makers and removers of folders apart."""
    home = labs_home()
    fd = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield home
    finally:
        os.close(fd)


def _broker_is_dead(path: Path) -> bool:
    try:
        fd = os.open(path / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _processes_of(path: Path, facts: dict[str, object]) -> list[int]:
    """Return the lab's processes: marked in their environment, or of its kernel's program and process group.

    A User-Mode Linux kernel's helpers have memory of their own, without the mark.
    """
    mark = f"{MARK}={path}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError, ValueError, IndexError):
            if mark in (entry / "environ").read_bytes().split(b"\0") or _in_kernel_group(entry, facts):
                found.append(int(entry.name))
    return found


def _in_kernel_group(process: Path, facts: dict[str, object]) -> bool:
    if "program" not in facts:
        return False
    after_name = (process / "stat").read_text().rsplit(")", 1)[1].split()
    state, group = after_name[0], int(after_name[2])
    if state in "ZX" or group != facts.get("group"):
        return False
    return str((process / "exe").readlink()) == facts["program"]
