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
from lvslab.kernels import calendar
from lvslab.kernels.broker import KERNEL_LINE
from lvslab.kernels.folder import MARK, LabFolder
from lvslab.kernels.images import UmlImage
from lvslab.kernels.start import KernelProgram

DEFAULT_MEMORY_MIB = 512
HERE = "/proc/self/cwd"
"""The kernel's working directory on the host, as long as the guest has no /proc of its own (proc(5))."""
INTERPRETER, PACKAGE, MODULES = "python", "lvslab", "modules"
GUEST_PROGRAM = "agent/guest.py"
VIRTUAL_TIME = (f"time-travel=ext:{calendar.SOCKET}", f"time-travel-start={calendar.START_NS}")
ALARM_S = 0.5
"""How often a kernel in real time is sent SIGALRM, its timer's signal, besides its own.

It loses one that comes while it handles another and has signals blocked (arch/um/os-Linux/signal.c: unblock_signals).
No timer of the guest's goes off after that: its clock runs, but nothing that waits for a moment is woken, and an idle
kernel turns in a circle. With the next alarm, from whomever, it does what is due and sets its timer again.
"""

SLOW_AND_UNUSED = ("raid6_select_algo", "init_zswap", "init_jfs_fs")
"""Initialisers of Debian's kernel that cost about a second at boot, for disks no guest here has."""


def uml_program(image: UmlImage, folder: LabFolder, *, memory_mib: int, virtual_time: bool = False) -> KernelProgram:
    """Return the program that boots `image` with the agent as its first process.

    The broker starts it in the lab's folder, and all its paths lie there: so its words are the same in every lab,
    whatever a path is made of, and random numbers, which begin with these words, can be the same too.
    """
    _link(folder.path, image)
    words = [
        str(image.program),
        f"mem={memory_mib}M",
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"),
        f"init={HERE}/{INTERPRETER}",
        *("quiet", "loglevel=1", "con=null", "con0=null,fd:1"),
        *("uml_dir=./", "umid=kernel"),
        *("panic=-1", "lpj=20000000", "pty.legacy_count=0"),
        "initcall_blacklist=" + ",".join(SLOW_AND_UNUSED),
        f"ssl0=fd:{KERNEL_LINE},fd:{KERNEL_LINE}",
        *(VIRTUAL_TIME if virtual_time else ()),
        f"LVSLAB_TIME={'virtual' if virtual_time else 'real'}",
        # Python would otherwise begin with a random number, and a kernel that has none yet takes seconds to make one.
        "PYTHONHASHSEED=0",
        *("--", "-s", "-P", "-S", "-B", f"{HERE}/{PACKAGE}/{GUEST_PROGRAM}"),
    ]
    environment = {
        # Without it glibc's restartable sequences stop a static kernel at its first user instruction.
        "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
        "HOME": str(folder.path),
        "PATH": "/usr/bin:/bin",
        "TMPDIR": str(memory_folder(memory_mib)),
        MARK: str(folder.path),
    }
    return KernelProgram(words, environment, UML_WINDOW_BYTES, virtual_time, None if virtual_time else ALARM_S)


def has_virtual_time(image: UmlImage) -> bool:
    """Tell whether a kernel was built with CONFIG_UML_TIME_TRAVEL_SUPPORT: it then knows the argument."""
    return b"time-travel-start=" in image.program.read_bytes()


def _link(folder: Path, image: UmlImage) -> None:
    """Put into the lab's folder what its kernel needs at the start.

    The interpreter itself, not the virtual environment's link to it: the guest runs with no site-packages.
    """
    (folder / INTERPRETER).symlink_to(Path(sys.executable).resolve())
    (folder / PACKAGE).symlink_to(Path(__file__).parents[1].resolve())
    if image.modules:
        (folder / MODULES).symlink_to(image.modules.resolve())


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
