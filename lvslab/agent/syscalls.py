"""System calls that Python 3.11 lacks, through the C library."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct

from lvslab.agent import bpf

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
ST_NOEXEC = 8

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
MODULE_INIT_COMPRESSED_FILE = 4
RB_POWER_OFF = 0x4321FEDC
RNDADDENTROPY = 0x40085203
_ENTROPY = struct.Struct("@ii")

# asm/unistd.h: finit_module and pivot_root have no wrapper in every C library.
_SYSCALLS = {
    "x86_64": {"finit_module": 313, "pivot_root": 155, "getrandom": 318},
    "aarch64": {"finit_module": 273, "pivot_root": 41, "getrandom": 278},
}
# linux/seccomp.h
_SECCOMP_ALLOW, _SECCOMP_ERRNO = 0x7FFF0000, 0x00050000

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def _syscall(name: str, *arguments: object) -> None:
    number = _SYSCALLS[os.uname().machine][name]
    _check(_libc.syscall(number, *arguments), name)


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def setns(fd: int, kind: int) -> None:
    _check(_libc.setns(fd, kind), "setns")


def mount(source: str, target: str, filesystem: str, flags: int = 0, data: str = "") -> None:
    arguments = (source.encode(), target.encode(), filesystem.encode(), flags, data.encode())
    _check(_libc.mount(*arguments), f"mount {filesystem} on {target}")


def has_filesystem(name: str) -> bool:
    """Tell whether the kernel knows a kind of file system (proc(5): /proc/filesystems)."""
    with open("/proc/filesystems") as table:  # noqa: PTH123
        return any(line.split()[-1:] == [name] for line in table)


def unmount(target: str, flags: int = 0) -> None:
    _check(_libc.umount2(target.encode(), flags), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    _syscall("pivot_root", new.encode(), old.encode())


def finit_module(fd: int, *, compressed: bool) -> None:
    """Load a module; a compressed one is unpacked by the kernel (init_module(2), CONFIG_MODULE_DECOMPRESS)."""
    _syscall("finit_module", fd, b"", MODULE_INIT_COMPRESSED_FILE if compressed else 0)


def sethostname(name: str) -> None:
    encoded = name.encode()
    _check(_libc.sethostname(encoded, len(encoded)), "sethostname")


def die_with_parent(signal: int) -> None:
    """Ask the kernel to send this process `signal` when its parent ends (prctl(2), PR_SET_PDEATHSIG)."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0), "prctl")


def become_subreaper() -> None:
    """Become the parent of orphaned descendants, to be able to collect them (prctl(2))."""
    _check(_libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def name_process(name: str) -> None:
    """Set the name that ps shows, at most 15 bytes (prctl(2), PR_SET_NAME)."""
    _check(_libc.prctl(PR_SET_NAME, name.encode(), 0, 0, 0), "prctl")


def refuse_random_numbers() -> None:
    """Let getrandom(2) fail from now on, here and in every program that follows (seccomp(2))."""
    program = bpf.BpfProgram(
        (
            (bpf.LOAD, 0, 0, 0),
            (bpf.JUMP_IF_EQUAL, 0, 1, _SYSCALLS[os.uname().machine]["getrandom"]),
            (bpf.RETURN, 0, 0, _SECCOMP_ERRNO | errno.ENOSYS),
            (bpf.RETURN, 0, 0, _SECCOMP_ALLOW),
        )
    )
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _check(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program.description, 0, 0), "prctl")


def seed_random_numbers(seed: bytes) -> None:
    """Give the kernel's generator `seed` and call it ready (random(4), RNDADDENTROPY)."""
    device = os.open("/dev/urandom", os.O_WRONLY)
    fcntl.ioctl(device, RNDADDENTROPY, _ENTROPY.pack(len(seed) * 8, len(seed)) + seed)
    os.close(device)


def power_off() -> None:
    _libc.reboot(RB_POWER_OFF)
