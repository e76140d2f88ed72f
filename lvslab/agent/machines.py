"""What makes a node look like a machine of its own: hostname, /etc/hosts, /etc/resolv.conf, /sys.

Beside its network namespace a node has UTS and mount namespaces, held open by descriptors like the network
one, so they cost no process. Programs of `exec` and `shell` run in all three.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lvslab.agent import syscalls
from lvslab.agent.namespaces import Namespaces

FOLDER = Path("/run/lvslab")
"""In the lab's own /run: one folder per node with the files that cover those in /etc."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Descriptors of a node's UTS and mount namespaces."""

    uts: int
    mounts: int


class Machines:
    """The nodes' machines, by node name."""

    def __init__(self, namespaces: Namespaces) -> None:
        self._namespaces = namespaces
        self._own = self._open()
        self._machines: dict[str, Machine] = {}

    def make(self, name: str, files: Mapping[str, str]) -> None:
        """Give a node its name, and `files` (name: contents).

        A file named by a path covers the one of that path, if there is one; another is only put into the node's
        folder.
        """
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / Path(file).name).write_text(text)
        with self._namespaces.inside(name):
            syscalls.unshare(syscalls.CLONE_NEWNS | syscalls.CLONE_NEWUTS)
            try:
                syscalls.sethostname(name)
                syscalls.mount("none", "/", "none", syscalls.MS_REC | syscalls.MS_PRIVATE)
                syscalls.mount("sysfs", "/sys", "sysfs")
                for path in map(Path, files):
                    if path.is_absolute() and path.exists():
                        syscalls.mount(str(folder / path.name), str(path), "none", syscalls.MS_BIND)
                self._machines[name] = self._open()
            finally:
                self._enter(self._own)

    def remove(self, name: str) -> None:
        machine = self._machines.pop(name, None)
        if machine is not None:
            os.close(machine.uts)
            os.close(machine.mounts)

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Run the body as the node: its network, its hostname, its files. Afterwards the working directory is /."""
        with self._namespaces.inside(name):
            machine = self._machines.get(name)
            if machine is None:
                yield
                return
            self._enter(machine)
            try:
                yield
            finally:
                self._enter(self._own)
                os.chdir("/")

    def _open(self) -> Machine:
        flags = os.O_RDONLY | os.O_CLOEXEC
        return Machine(os.open("/proc/self/ns/uts", flags), os.open("/proc/self/ns/mnt", flags))

    def _enter(self, machine: Machine) -> None:
        syscalls.setns(machine.uts, syscalls.CLONE_NEWUTS)
        syscalls.setns(machine.mounts, syscalls.CLONE_NEWNS)
