"""The kernels a user has built: one folder each in the user's cache, with a record of what they were made of."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from lvslab.errors import BadInput, CannotRun

PROGRAM = "linux"
CONFIG = "config"
MODULES = "modules"
"""Folder of RELEASE/modules.builtin and its indices: modprobe then knows what the kernel has (modprobe(8))."""
RECORD = "kernel.json"
CHOICE = "current"
LOCK = ".lock"
UNFINISHED = ".unfinished-"
"""Beginning of the names of folders that are on their way in or out."""


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """What a kernel was made of; checksums are SHA-256 in hex."""

    release: str
    """As `uname -r` says in the guest."""
    source: str
    """Name and version of the source package, or the archive's file name."""
    source_sha256: str
    config_sha256: str
    """Of the fragment that was asked for; the complete configuration is beside the record."""
    program_sha256: str
    schedulers: tuple[str, ...]
    """The IPVS schedulers it has."""


def kernels_home() -> Path:
    """Return the folder of built kernels: XDG_CACHE_HOME/lvslab/kernels, else ~/.cache/lvslab/kernels.

    A relative XDG_CACHE_HOME counts as none (XDG Base Directory Specification). Raises CannotRun.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path.home() / ".cache"
        except RuntimeError as error:
            raise CannotRun("you have no home folder", next_step="set XDG_CACHE_HOME") from error
    return base / "lvslab" / "kernels"


def folder_of(kernel: BuiltKernel) -> Path:
    return kernels_home() / kernel.release


def built_kernels() -> tuple[BuiltKernel, ...]:
    """Return the kernels in the cache, oldest release first. Folders that are not whole are passed over."""
    try:
        folders = [folder for folder in kernels_home().iterdir() if not folder.name.startswith(".")]
    except (OSError, CannotRun):
        return ()
    found = [kernel for folder in folders if (kernel := read_kernel(folder)) and kernel.release == folder.name]
    return tuple(sorted(found, key=lambda kernel: version_key(kernel.release)))


def read_kernel(folder: Path) -> BuiltKernel | None:
    """Return the record of the kernel in `folder`, or None if there is no whole one."""
    try:
        record = json.loads((folder / RECORD).read_text())
        kernel = BuiltKernel(**record | {"schedulers": tuple(record["schedulers"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return kernel if os.access(folder / PROGRAM, os.X_OK) else None


def find_kernel(name: str) -> BuiltKernel:
    """Return the newest kernel whose release is `name` or begins with it (6.12 finds 6.12.117). Raises BadInput."""
    matching = [kernel for kernel in built_kernels() if matches(kernel.release, name)]
    if not matching:
        have = ", ".join(kernel.release for kernel in built_kernels()) or "none"
        raise BadInput(
            "no such kernel", where=name, expected=f"one of those built: {have}", next_step="see lvslab kernel list"
        )
    return matching[-1]


def matches(release: str, name: str) -> bool:
    """Tell whether `name` is the release or a beginning of it that ends at a dot or dash."""
    return release == name or release.startswith((f"{name}.", f"{name}-"))


def version_key(release: str) -> tuple[int, ...]:
    """Return the numbers of a release, for sorting: 6.12.9 comes before 6.12.117."""
    numbers = "".join(character if character.isdigit() else " " for character in release)
    return tuple(map(int, numbers.split()))


def chosen_release() -> str:
    """Return the release that the user chose with `lvslab kernel use`, or an empty string."""
    try:
        return (kernels_home() / CHOICE).read_text().strip()
    except (OSError, ValueError, CannotRun):
        return ""


def choose_release(release: str) -> None:
    """Remember the user's choice. Raises CannotRun."""
    with changing() as home, tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=home) as folder:
        new = Path(folder) / CHOICE
        new.write_text(release + "\n")
        new.replace(home / CHOICE)


def add_kernel(kernel: BuiltKernel, made: Path) -> Path:
    """Copy the folder `made`, which holds a kernel's files, into the cache; one of the same release is replaced.

    Return where the program is now. What fails or is killed on the way leaves the cache as it was. Raises CannotRun.
    """
    with changing() as home, tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=home) as folder:
        new = Path(folder) / kernel.release
        shutil.copytree(made, new)
        (new / RECORD).write_text(json.dumps(asdict(kernel), indent=2) + "\n")
        _remove(home / kernel.release)
        new.rename(home / kernel.release)
        return home / kernel.release / PROGRAM


def remove_kernel(name: str) -> BuiltKernel:
    """Remove a built kernel from the cache; `name` is its whole release. Raises BadInput or CannotRun."""
    kernel = find_kernel(name)
    if kernel.release != name:
        raise BadInput("not removed", where=name, expected="the whole release", found=kernel.release)
    with changing() as home:
        _remove(home / kernel.release)
        if chosen_release() == kernel.release:
            (home / CHOICE).unlink()
    return kernel


def _remove(folder: Path) -> None:
    """Remove a kernel's folder, at once for those who look; nothing if it is not there."""
    if folder.exists():
        out = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder.parent))
        folder.rename(out)
        shutil.rmtree(out)


@contextmanager
def changing() -> Iterator[Path]:
    """Give the cache to one who changes it at a time, free of what was left by those who were killed.

    Raises CannotRun if the body cannot do what it wants to.
    """
    home = kernels_home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for left in home.glob(f"{UNFINISHED}*"):
                shutil.rmtree(left)
            yield home
    except OSError as error:
        raise CannotRun(
            "the cache of kernels cannot be changed",
            where=str(error.filename or home),
            found=error.strerror or str(error),
            next_step="make it writable, make room, or set XDG_CACHE_HOME to another folder",
        ) from error
