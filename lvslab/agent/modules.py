"""Loads kernel modules, dependencies first (depmod(8): modules.dep).

A module that is not there is reported, not an error: the kernel may have it built in.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from lvslab.agent import syscalls


def module_folder() -> Path:
    return Path("/lib/modules") / os.uname().release


def load_modules(names: list[str]) -> list[str]:
    """Load each module and what it needs; return the names for which this kernel has no module file."""
    table = module_folder() / "modules.dep"
    return load_from(table, names) if table.exists() else list(names)


def load_from(table: Path, names: list[str]) -> list[str]:
    """As :func:`load_modules`, with the modules.dep of another folder."""
    files = _dependencies(table)
    missing = []
    for name in names:
        if name not in files:
            missing.append(name)
            continue
        for path in reversed(files[name]):
            _load(table.parent / path)
    return missing


def _dependencies(table: Path) -> dict[str, list[str]]:
    """Return, by module name, its file and those it needs, in the order of modules.dep."""
    files = {}
    for line in table.read_text().splitlines():
        path, _, needed = line.partition(":")
        name = path.rsplit("/", 1)[-1].split(".", 1)[0].replace("-", "_")
        files[name] = [path, *needed.split()]
    return files


def _load(path: Path) -> None:
    if (Path("/sys/module") / path.name.split(".", 1)[0].replace("-", "_")).exists():
        return
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        syscalls.finit_module(fd, compressed=path.suffix != ".ko")
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise
    finally:
        os.close(fd)
