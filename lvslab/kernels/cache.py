"""The kernels a user has built: one folder each in the user's cache, with a record of what they were made of."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from lvslab.errors import BadInput

PROGRAM = "linux"
RECORD = "kernel.json"
CURRENT = "current"


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """What a kernel was made of; checksums are SHA-256 in hex."""

    release: str
    """As `uname -r` says in the guest."""
    source: str
    """Name and version of the source package, or the archive's file name."""
    source_sha256: str
    config_sha256: str
    program_sha256: str


def kernels_home() -> Path:
    """Return the folder of built kernels: XDG_CACHE_HOME/lvslab/kernels, else ~/.cache/lvslab/kernels."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "lvslab" / "kernels"


def built_kernels() -> tuple[BuiltKernel, ...]:
    """Return the kernels in the cache, oldest release first. Folders that are not whole are passed over."""
    home = kernels_home()
    if not home.is_dir():
        return ()
    found = [_read(folder) for folder in home.iterdir() if (folder / PROGRAM).is_file()]
    return tuple(sorted((kernel for kernel in found if kernel), key=lambda kernel: version_key(kernel.release)))


def program_of(kernel: BuiltKernel) -> Path:
    return kernels_home() / kernel.release / PROGRAM


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


def current_kernel() -> BuiltKernel | None:
    """Return the kernel the user chose, else the newest, else None."""
    kernels = built_kernels()
    chosen = kernels_home() / CURRENT
    if chosen.is_file():
        release = chosen.read_text().strip()
        for kernel in kernels:
            if kernel.release == release:
                return kernel
    return kernels[-1] if kernels else None


def use_kernel(name: str) -> BuiltKernel:
    """Make a built kernel the one that `uml` means. Raises BadInput."""
    kernel = find_kernel(name)
    temporary = kernels_home() / f"{CURRENT}.new"
    temporary.write_text(kernel.release + "\n")
    temporary.replace(kernels_home() / CURRENT)
    return kernel


def remove_kernel(name: str) -> BuiltKernel:
    """Remove a built kernel from the cache; guests that run it go on. Raises BadInput."""
    kernel = find_kernel(name)
    shutil.rmtree(kernels_home() / kernel.release)
    return kernel


def add_kernel(kernel: BuiltKernel, program: Path) -> Path:
    """Move a built program into the cache; a kernel of the same release is replaced. Return where it is now."""
    home = kernels_home()
    home.mkdir(parents=True, exist_ok=True)
    new = home / f".{kernel.release}.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    shutil.move(program, new / PROGRAM)
    (new / PROGRAM).chmod(0o755)
    (new / RECORD).write_text(json.dumps(asdict(kernel), indent=2) + "\n")
    folder = home / kernel.release
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)
    return folder / PROGRAM


def _read(folder: Path) -> BuiltKernel | None:
    try:
        return BuiltKernel(**json.loads((folder / RECORD).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def version_key(release: str) -> tuple[int, ...]:
    """Return the numbers of a release, for sorting: 6.12.9 comes before 6.12.117."""
    numbers = "".join(character if character.isdigit() else " " for character in release)
    return tuple(map(int, numbers.split()))
