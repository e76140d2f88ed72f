"""Starts programs inside nodes, gathers what they print, and stops them."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lvslab.agent.machines import Machines

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Program:
    """What to start: argv, extra environment, the file that takes its output ("" for none), the working directory."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    output: str = ""
    folder: str = "/"


def find_program(name: str) -> str:
    """Return the program's path, searching where a root shell would."""
    if "/" in name:
        return name
    for folder in SEARCH_PATH.split(":"):
        path = Path(folder) / name
        if os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError(2, f"there is no program {name} in {SEARCH_PATH}")


def spawn(machines: Machines, node: str, program: Program) -> int:
    """Start a program in its own session as the machine `node`; return its pid."""
    path = find_program(program.argv[0])
    environment = {"PATH": SEARCH_PATH, "HOME": "/root", "LANG": "C.UTF-8", **program.environment}
    output = program.output or os.devnull
    actions: Sequence[tuple[int, ...] | tuple[int, int, str, int, int]] = (
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    )
    with machines.inside(node):
        pid = os.posix_spawn(
            path, list(program.argv), environment, file_actions=actions, setsid=True, setsigdef=[signal.SIGPIPE]
        )
    # The agent itself runs ahead of everything for the sake of its rings; its children do not.
    os.setpriority(os.PRIO_PROCESS, pid, 0)
    return pid


def spawn_attached(machines: Machines, node: str, program: Program, ends: Sequence[int], *, terminal: bool) -> int:
    """Start a program as the machine `node`, its streams joined to the descriptors `ends`; return its pid.

    A terminal is opened by name after setsid(2), which makes it the controlling one (tty_ioctl(4)).
    """
    path = find_program(program.argv[0])
    environment = {"PATH": SEARCH_PATH, "HOME": "/root", "LANG": "C.UTF-8", **program.environment}
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]]
    if terminal:
        actions = [(os.POSIX_SPAWN_OPEN, 0, os.ttyname(ends[0]), os.O_RDWR, 0)]
        actions += [(os.POSIX_SPAWN_DUP2, 0, stream) for stream in (1, 2)]
    else:
        actions = [(os.POSIX_SPAWN_DUP2, end, stream) for stream, end in enumerate(ends)]
    with machines.inside(node):
        with suppress(OSError):
            os.chdir(program.folder)
        pid = os.posix_spawn(
            path, list(program.argv), environment, file_actions=actions, setsid=True, setsigdef=[signal.SIGPIPE]
        )
    os.setpriority(os.PRIO_PROCESS, pid, 0)
    return pid


def listening_ports(tables: Sequence[str]) -> set[int]:
    """Return the ports in state LISTEN in the text of /proc/net/tcp and tcp6 (proc_net_tcp.rst: state 0A)."""
    ports = set()
    for table in tables:
        for line in table.splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                ports.add(int(fields[1].rsplit(":", 1)[1], 16))
    return ports
