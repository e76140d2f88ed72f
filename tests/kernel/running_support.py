"""Labs that stay, as their user has them: the command line, in terminals and in pipes."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pexpect

from tests.kernel.support import COMMAND, COMMAND_TIMEOUT_S
from tests.kernel.test_ordinary_user import RUN, copy_packages, without_privileges

ROWS, COLUMNS = 24, 100
TERMINAL_TIMEOUT_S = 60.0
"""A stop for what never appears; no test is about how long it takes."""


@dataclass(frozen=True)
class World:
    """Somewhere the command line can be used: how it is called there, in pipes and in terminals, and as whom."""

    command: tuple[str, ...]
    command_in_terminal: tuple[str, ...]
    kernel: str
    environment: Mapping[str, str]
    folder: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *words],
            check=False,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            env=dict(self.environment),
            cwd=self.folder,
        )

    def open_terminal(self, *words: str) -> Terminal:
        program, *first_words = self.command_in_terminal
        return Terminal(
            pexpect.spawn(
                program,
                [*first_words, *words],
                env=dict(self.environment),
                cwd=str(self.folder),
                encoding="utf-8",
                timeout=TERMINAL_TIMEOUT_S,
                dimensions=(ROWS, COLUMNS),
            )
        )


class Terminal:
    """A person at a terminal: types, and waits for what appears."""

    def __init__(self, program: pexpect.spawn[str]) -> None:
        self.program = program

    def see(self, *texts: str) -> None:
        """Wait until each text has appeared, in this order."""
        for text in texts:
            self.program.expect_exact(text)

    def type(self, line: str) -> None:
        self.program.sendline(line)

    def press(self, keys: str) -> None:
        self.program.send(keys)

    def status(self) -> int:
        """Wait for its end; return its exit status."""
        self.program.expect(pexpect.EOF)
        self.program.close()
        if self.program.exitstatus is None:
            raise AssertionError(f"killed by signal {self.program.signalstatus}")
        return int(self.program.exitstatus)


def this_user(kernel: str = "uml") -> World:
    command = (str(COMMAND),)
    return World(command, command, kernel, os.environ.copy() | {"TERM": "xterm"}, Path.cwd())


@contextmanager
def ordinary_user() -> Iterator[World]:
    """`nobody` if we are root, without any privilege; otherwise ourselves. See tests/kernel/test_ordinary_user.py."""
    with tempfile.TemporaryDirectory(prefix="lvsu-") as name:
        folder = Path(name)
        copy_packages(folder / "packages")
        become: tuple[str, ...] = ()
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            become = without_privileges(nobody)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TERM": "xterm",
            "LVSLAB_HOME": str(folder / "labs"),
            "PYTHONPATH": str(folder / "packages"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = (*become, str(Path(sys.executable).resolve()), "-c", RUN)
        yield World(command, command, "uml", environment, folder)


@contextmanager
def native_in_a_guest() -> Iterator[World]:
    """The native kernel where we are surely root: inside a node of another lab."""
    outer = this_user()
    done = outer.run("up", "dr", "--name", "outer", "--kernel", "uml")
    assert done.returncode == 0, done.stderr
    inside = ("client", "--", "env", "LVSLAB_HOME=/run/labs", str(COMMAND))
    try:
        command = (*outer.command, "exec", "--lab", "outer", *inside)
        in_terminal = (*outer.command, "exec", "-t", "--lab", "outer", *inside)
        yield World(command, in_terminal, "native", outer.environment, outer.folder)
    finally:
        outer.run("down", "outer")
