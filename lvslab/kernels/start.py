"""Starts a lab's kernel under a broker and returns the channel to the agent inside."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lvslab.agent.wire import Kind
from lvslab.errors import CannotRun, KernelFault
from lvslab.kernels.broker import Orders
from lvslab.kernels.channel import Channel
from lvslab.kernels.folder import SOCKET, LabFolder, make_lab_folder, open_standard_descriptors, remove_lab

BROKER_PROGRAM = Path(__file__).parent / "broker.py"
BROKER_LOG = "broker.log"
STAY_TIMEOUT_S = 10.0
LINE_BYTES = 1 << 22
STAY_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class KernelProgram:
    """What the broker executes: argv, environment, the window of the line to it in bytes, and how it keeps time."""

    argv: list[str]
    environment: dict[str, str]
    window_bytes: int
    virtual_time: bool = False
    alarm_s: float | None = None


@dataclass(slots=True)
class RunningKernel:
    """A kernel that is starting or up; `close` ends it and everything in it."""

    kind: str
    channel: Channel
    folder: LabFolder
    broker: int
    hello: dict[str, Any]

    @property
    def release(self) -> str:
        return str(self.hello.get("release", ""))

    @property
    def virtual_time(self) -> bool:
        return bool(self.hello.get("virtual_time"))

    def wait_until_up(self, timeout_s: float) -> None:
        self.hello = self.channel.wait_for_hello(timeout_s)

    def leave(self) -> None:
        """Let the lab stay after this process; others may then attach to it."""
        try:
            self._ask_to_stay()
        except BaseException:
            # It may have heard, and would then not end when we hang up.
            with suppress(KernelFault):
                self.channel.tell(Kind.STOP)
            raise
        self.channel.close()
        os.close(self.folder.lock)
        self.broker = 0

    def _ask_to_stay(self) -> None:
        self.channel.tell(Kind.STAY)
        deadline = time.monotonic() + STAY_TIMEOUT_S
        while not (self.folder.path / SOCKET).exists():
            if time.monotonic() > deadline:
                raise KernelFault("the lab's broker does not let others in", where=str(self.folder.path))
            time.sleep(STAY_POLL_S)

    def close(self) -> None:
        """Hang up and wait for the broker, which ends the kernel and removes the lab's folder, unless it stays."""
        self.channel.close()
        if self.broker:
            with suppress(ChildProcessError):
                os.waitpid(self.broker, 0)
            if self.folder.path.exists():
                # The broker was killed.
                remove_lab(self.folder.path)
            self.broker = 0
            os.close(self.folder.lock)


def start_kernel(name: str, kind: str, program: Callable[[LabFolder], KernelProgram]) -> RunningKernel:
    """Make the lab's folder and start its broker; the kernel boots while the caller goes on.

    `program` is told the lab's folder. Raises CannotRun.
    """
    with _signals_held():
        return _start(name, kind, program)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals wait: between making a folder and having a broker that will remove it, nothing may interrupt."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(name: str, kind: str, program: Callable[[LabFolder], KernelProgram]) -> RunningKernel:
    open_standard_descriptors()
    folder = make_lab_folder(name)
    client, broker_client = socket.socketpair()
    line, kernel_line = socket.socketpair()
    # As much as the system allows: a kernel that has to wait for room does not repeat exactly.
    kernel_line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LINE_BYTES)
    try:
        what = program(folder)
        orders = Orders(
            folder=str(folder.path),
            lock=folder.lock,
            client=broker_client.fileno(),
            line=line.fileno(),
            kernel_line=kernel_line.fileno(),
            argv=what.argv,
            environment=what.environment,
            window_bytes=what.window_bytes,
            virtual_time=what.virtual_time,
            alarm_s=what.alarm_s,
        )
        pid = _spawn_broker(orders)
    except BaseException:
        client.close()
        remove_lab(folder.path)
        os.close(folder.lock)
        raise
    finally:
        for end in (broker_client, line, kernel_line):
            end.close()
    return RunningKernel(kind, Channel(client, folder.path / BROKER_LOG), folder, pid, {})


def _spawn_broker(orders: Orders) -> int:
    argv = [str(Path(sys.executable).resolve()), "-I", "-S", "-B", str(BROKER_PROGRAM), json.dumps(asdict(orders))]
    for fd in orders.descriptors():
        os.set_inheritable(fd, True)
    try:
        return os.posix_spawn(
            argv[0],
            argv,
            {"PATH": os.defpath},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, str(Path(orders.folder) / BROKER_LOG), os.O_WRONLY | os.O_CREAT, 0o600),
            ],
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGPIPE, signal.SIGINT],
        )
    except OSError as error:
        raise CannotRun("the lab's broker cannot be started", where=argv[0], found=error.strerror) from error
    finally:
        for fd in orders.descriptors():
            os.set_inheritable(fd, False)
