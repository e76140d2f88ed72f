"""Labs that stay, as their user has them: the command line, in terminals and in pipes."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pytest

from lvslab.kernels.folder import LOCK
from tests.kernel.support import COMMAND, COMMAND_TIMEOUT_S
from tests.kernel.test_ordinary_user import RUN, copy_packages, without_privileges

ROWS, COLUMNS = 24, 100
CTRL_C = "\x03"
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
        """Press the keys of a line, and Enter, which is a carriage return (readline tells it from a line feed)."""
        self.program.send(f"{line}\r")

    def press(self, keys: str) -> None:
        self.program.send(keys)

    def status(self) -> int:
        """Wait for its end; return its exit status."""
        self.program.expect(pexpect.EOF)
        self.program.close()
        if self.program.exitstatus is None:
            raise AssertionError(f"killed by signal {self.program.signalstatus}")
        return int(self.program.exitstatus)


@dataclass(frozen=True)
class Home:
    """A folder for labs and one for temporary files, of a test's own."""

    world: World
    labs: Path
    temporary: Path

    def processes(self) -> list[int]:
        """Return all processes that have this home in their environment or among their words."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                said = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            except OSError:
                continue
            if f"{self.labs}/lvslab-".encode() in said:
                found.append(int(process.name))
        return found

    def left(self) -> dict[str, object]:
        """Return everything a lab could leave behind."""
        ours = [path.name for path in self.labs.iterdir() if path.name != LOCK]
        return {
            "processes": self.processes(),
            "folders": ours,
            "temporary files": [path.name for path in self.temporary.iterdir()],
            "shared memory": sorted(path.name for path in Path("/dev/shm").glob("lvslab*")),
            "mounts": [line for line in Path("/proc/mounts").read_text().splitlines() if str(self.labs) in line],
            "links": sorted(path.name for path in Path("/sys/class/net").iterdir()),
            "namespaces": sorted(path.name for path in Path("/run/netns").glob("*")),
        }


def this_user(kernel: str = "uml") -> World:
    command = (str(COMMAND),)
    return World(command, command, kernel, os.environ.copy() | {"TERM": "xterm"}, Path.cwd())


@contextmanager
def own_home(name: str = "labs") -> Iterator[Home]:
    """Labs in a folder of that name, as LVSLAB_HOME says for this process too, and nowhere else."""
    with tempfile.TemporaryDirectory(prefix="lvsc-") as folder, pytest.MonkeyPatch.context() as patch:
        labs, temporary = Path(folder, name), Path(folder, "tmp")
        labs.mkdir(mode=0o700)
        temporary.mkdir()
        patch.setenv("LVSLAB_HOME", str(labs))
        patch.setenv("TMPDIR", str(temporary))
        home = Home(this_user(), labs, temporary)
        try:
            yield home
        finally:
            # After a failed test a lab may still be up.
            for pid in home.processes():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@contextmanager
def started(home: Home, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command that is not waited for."""
    environment, pipe = dict(home.world.environment), subprocess.PIPE
    with subprocess.Popen(
        [COMMAND, *words], env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


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


WORLDS: dict[str, Callable[[], AbstractContextManager[World]]] = {
    "uml": lambda: nullcontext(this_user()),
    "uml, ordinary user": ordinary_user,
    "native, in a guest": native_in_a_guest,
}
"""Where the same commands are to give the same."""
