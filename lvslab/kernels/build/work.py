"""The folder a kernel is built in: large enough, in nobody's way, and gone afterwards."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lvslab.agent.syscalls import ST_NOEXEC
from lvslab.errors import CannotRun
from lvslab.kernels import cache

PREFIX = "lvslab-kernel-"
ROOM_MIB = 3000
DEFAULT_PARENT = "/var/tmp"  # noqa: S108 - a fresh folder is made in it


@contextmanager
def work_folder() -> Iterator[Path]:
    """Make a folder below TMPDIR (else /var/tmp) and remove it at the end. Raises CannotRun.

    What builds left that were killed is removed first: a folder whose builder lives is locked (flock(2)).
    """
    parent = Path(os.environ.get("TMPDIR") or DEFAULT_PARENT)
    _check(parent)
    # The cache's lock keeps another build from taking our new folder for one that was left.
    with cache.changing():
        _remove_left(parent)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _check(parent: Path) -> None:
    found = _fault(parent)
    if found:
        raise CannotRun(
            "no folder to build in",
            where=str(parent),
            expected=f"{ROOM_MIB} MiB free, programs allowed to run, no space or colon in its path",
            found=found,
            next_step="set TMPDIR to such a folder",
        )


def _fault(parent: Path) -> str:
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        return "no folder you may write to"
    # The kernel's own Makefile refuses such paths.
    if set(str(parent.resolve())) & set(" :"):
        return "a space or colon in its path"
    status = os.statvfs(parent)
    if status.f_flag & ST_NOEXEC:
        return "mounted noexec"
    free_mib = status.f_bavail * status.f_frsize >> 20
    return f"{free_mib} MiB free" if free_mib < ROOM_MIB else ""


def _remove_left(parent: Path) -> None:
    for left in parent.glob(f"{PREFIX}*"):
        if left.is_symlink() or left.stat().st_uid != os.getuid():
            continue
        lock = os.open(left, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            shutil.rmtree(left, ignore_errors=True)
        finally:
            os.close(lock)
