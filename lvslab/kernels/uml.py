"""A User-Mode Linux kernel as an ordinary process: how it is started.

Command-line words: Documentation/virt/uml/user_mode_linux_howto_v2.rst and the kernel's own --help.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lvslab.agent.syscalls import ST_NOEXEC
from lvslab.agent.wire import UML_WINDOW_BYTES
from lvslab.errors import CannotRun
from lvslab.kernels.folder import MARK, LabFolder
from lvslab.kernels.images import UmlImage
from lvslab.kernels.start import KernelProgram

DEFAULT_MEMORY_MIB = 512
GUEST_PROGRAM = Path(__file__).parents[1] / "agent" / "guest.py"

MAX_COMMAND_LINE_BYTES = 4095
"""arch/um/include/asm/setup.h: COMMAND_LINE_SIZE is 4096, the closing null byte included."""

SLOW_AND_UNUSED = ("raid6_select_algo", "init_zswap", "init_jfs_fs")
"""Initialisers of Debian's kernel that cost about a second at boot, for disks no guest here has."""


def uml_program(image: UmlImage, folder: LabFolder, *, kernel_line: int, memory_mib: int) -> KernelProgram:
    """Return the program that boots `image` with the agent as its first process."""
    words = [
        str(image.program),
        f"mem={memory_mib}M",
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"),
        f"init={_quoted(_interpreter())}",
        *("quiet", "loglevel=1", "con=null", "con0=null,fd:1"),
        # The broker starts the kernel in the lab's folder.
        "uml_dir=./",
        "umid=kernel",
        *("panic=-1", "lpj=20000000", "pty.legacy_count=0"),
        "initcall_blacklist=" + ",".join(SLOW_AND_UNUSED),
        f"ssl0=fd:{kernel_line},fd:{kernel_line}",
        f"LVSLAB_SHARE={_quoted(folder.share)}",
        *([f"LVSLAB_MODULES={_quoted(image.modules)}"] if image.modules else []),
        *("--", "-I", "-S", "-B", _quoted(GUEST_PROGRAM)),
    ]
    _check_length(words)
    environment = {
        # Without it glibc's restartable sequences stop a static kernel at its first user instruction.
        "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
        "HOME": str(folder.path),
        "PATH": "/usr/bin:/bin",
        "TMPDIR": str(memory_folder(memory_mib)),
        MARK: str(folder.path),
    }
    return KernelProgram(words, environment, UML_WINDOW_BYTES)


def _interpreter() -> Path:
    """The interpreter itself, not the virtual environment's link to it: the guest runs with no site-packages."""
    return Path(sys.executable).resolve()


def _quoted(path: Path) -> str:
    """Quote a path for the kernel's command line (lib/cmdline.c: next_arg).

    Always: to the kernel, byte A0 is a space too, and it is part of many a letter in UTF-8.
    """
    text = str(path)
    if '"' in text:
        raise CannotRun("the path cannot be given to the kernel", where=text, next_step="use a path without quotes")
    return f'"{text}"'


def _check_length(words: list[str]) -> None:
    length = sum(len(os.fsencode(word)) + 1 for word in words[1:])
    if length > MAX_COMMAND_LINE_BYTES:
        raise CannotRun(
            "the kernel's command line would be too long",
            expected=f"at most {MAX_COMMAND_LINE_BYTES} bytes",
            found=f"{length}, most of it paths",
            next_step="set LVSLAB_HOME to a shorter path, or install lvslab at one",
        )


def memory_folder(memory_mib: int) -> Path:
    """Return a folder whose file system can back the guest's memory.

    The kernel maps an unlinked file there, executable; when the file system fills up the guest dies
    without a word, so room is checked first. Raises CannotRun.
    """
    seen = []
    for path in _candidates():
        if not os.access(path, os.W_OK):
            seen.append(f"{path} is not writable")
            continue
        status = os.statvfs(path)
        free_mib = status.f_bavail * status.f_frsize >> 20
        if status.f_flag & ST_NOEXEC:
            seen.append(f"{path} is mounted noexec")
        elif free_mib < memory_mib:
            seen.append(f"{path} has {free_mib} MiB free")
        else:
            return path
    raise CannotRun(
        "no folder can back the guest's memory",
        expected=f"{memory_mib} MiB free in one that allows execution",
        found="; ".join(seen),
        next_step="set TMPDIR to such a folder, or make room",
    )


def _candidates() -> list[Path]:
    chosen = os.environ.get("TMPDIR")
    return [Path(path) for path in ([chosen] if chosen else []) + ["/dev/shm", "/tmp"]]  # noqa: S108
