"""Where a network namespace is made and entered.

A node is a network namespace held open by a descriptor and bind-mounted on /run/netns/NAME, so that
``ip netns exec NAME`` finds it. The mount lives in the agent's private mount namespace (native) or in a
kernel of its own (uml): when the agent ends, nothing is left.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lvslab.agent import syscalls

NETNS_FOLDER = Path("/run/netns")
OWN = ""
"""Name of the namespace the agent itself started in."""


class Namespaces:
    """The namespaces of one lab, by node name."""

    def __init__(self) -> None:
        self._fds: dict[str, int] = {OWN: os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)}
        self._current = OWN

    def names(self) -> list[str]:
        return [name for name in self._fds if name != OWN]

    def make(self, name: str) -> int:
        """Make a namespace and return the descriptor that holds it."""
        syscalls.unshare(syscalls.CLONE_NEWNET)
        try:
            return self._hold(name, "/proc/self/ns/net")
        finally:
            syscalls.setns(self._fds[OWN], syscalls.CLONE_NEWNET)

    def adopt(self, name: str, pid: int) -> int:
        """Hold the namespace that a process is in, and return the descriptor that holds it."""
        return self._hold(name, f"/proc/{pid}/ns/net")

    def _hold(self, name: str, namespace: str) -> int:
        if name in self._fds:
            raise FileExistsError(f"namespace {name} exists")
        fd = os.open(namespace, os.O_RDONLY | os.O_CLOEXEC)
        path = NETNS_FOLDER / name
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))
        syscalls.mount(namespace, str(path), "none", syscalls.MS_BIND)
        self._fds[name] = fd
        return fd

    def remove(self, name: str) -> None:
        """Let go of a namespace; the kernel frees it once no process and no socket is in it."""
        os.close(self._fds.pop(name))
        path = NETNS_FOLDER / name
        syscalls.unmount(str(path), syscalls.MNT_DETACH)
        path.unlink()

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Run the body in namespace `name`; sockets opened there stay there."""
        if name not in self._fds:
            raise FileNotFoundError(f"there is no namespace {name}")
        before = self._current
        self._enter(name)
        try:
            yield
        finally:
            self._enter(before)

    def _enter(self, name: str) -> None:
        if name != self._current:
            syscalls.setns(self._fds[name], syscalls.CLONE_NEWNET)
            self._current = name
