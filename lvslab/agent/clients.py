"""Test clients inside a node: connections one after another, each from a chosen source address and port.

A connection that hangs does not stop the series: after `GAP_S` the next one starts, so the order in which
connections begin, which is what a scheduler sees, is always the order asked for.
"""

from __future__ import annotations

import errno
import os
import selectors
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from lvslab.agent import syscalls
from lvslab.agent.namespaces import Namespaces

GAP_S = 0.25
HURRIED_GAP_S = 0.02
STUCK_BEFORE_HURRY = 3
RECEIVE_BYTES = 1 << 18
_LENGTH_PREFIX_BYTES = 2


@dataclass(frozen=True, slots=True)
class Call:
    """One question to ask. `kind`: stream (read to the end), prefixed (DNS over TCP, RFC 7766) or datagram."""

    kind: str
    source: str
    source_port: int
    address: str
    port: int
    question: bytes

    @classmethod
    def from_fields(cls, fields: dict[str, Any], question: bytes) -> Call:
        return cls(fields["kind"], fields["source"], fields["source_port"], fields["address"], fields["port"], question)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: `ok`, or the name of the errno (ECONNREFUSED, ETIMEDOUT, …)."""

    status: str
    source_port: int
    seconds: float
    answer: bytes


class _Running:
    """A call under way."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.started = time.monotonic()
        self.answer = b""
        self.outcome: Outcome | None = None
        self.source_port = call.source_port
        family = socket.AF_INET6 if ":" in call.address else socket.AF_INET
        kind = socket.SOCK_DGRAM if call.kind == "datagram" else socket.SOCK_STREAM
        self.socket = socket.socket(family, kind | socket.SOCK_NONBLOCK)

    def begin(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((self.call.source, self.call.source_port))
        with suppress(BlockingIOError):
            self.socket.connect((self.call.address, self.call.port))
        self.source_port = self.socket.getsockname()[1]

    def writable(self) -> None:
        code = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        self.socket.send(self.call.question)

    def readable(self) -> bool:
        """Take what came; return whether the answer is complete."""
        data = self.socket.recv(RECEIVE_BYTES)
        self.answer += data
        if not data or self.call.kind == "datagram":
            return True
        return self.call.kind == "prefixed" and _prefixed_is_complete(self.answer)

    def finish(self, status: str) -> None:
        seconds = time.monotonic() - self.started
        self.outcome = Outcome(status, self.source_port, seconds, self.answer)
        self.socket.close()


def _prefixed_is_complete(answer: bytes) -> bool:
    if len(answer) < _LENGTH_PREFIX_BYTES:
        return False
    return len(answer) >= _LENGTH_PREFIX_BYTES + int.from_bytes(answer[:_LENGTH_PREFIX_BYTES], "big")


class Series:
    """Runs calls in order and collects their outcomes."""

    def __init__(self, calls: Sequence[Call], timeout_s: float) -> None:
        self._calls = calls
        self._timeout_s = timeout_s
        self._selector = selectors.DefaultSelector()
        self._running: list[_Running] = []
        self._stuck = 0

    def run(self) -> list[Outcome]:
        everything: list[_Running] = []
        for call in self._calls:
            running = _Running(call)
            everything.append(running)
            self._start(running)
            self._wait(running, self._gap())
            self._stuck = self._stuck + 1 if running.outcome is None else 0
        for running in everything:
            self._wait(running, running.started + self._timeout_s - time.monotonic())
        self._expire(everything, always=True)
        return [running.outcome for running in everything if running.outcome is not None]

    def _gap(self) -> float:
        return HURRIED_GAP_S if self._stuck >= STUCK_BEFORE_HURRY else GAP_S

    def _start(self, running: _Running) -> None:
        try:
            running.begin()
        except OSError as error:
            running.finish(_name(error))
            return
        self._selector.register(running.socket, selectors.EVENT_WRITE, running)

    def _wait(self, running: _Running, seconds: float) -> None:
        end = time.monotonic() + seconds
        while running.outcome is None and (left := end - time.monotonic()) > 0:
            for key, events in self._selector.select(left):
                self._advance(key.data, events)

    def _advance(self, running: _Running, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                running.writable()
                self._selector.modify(running.socket, selectors.EVENT_READ, running)
            elif running.readable():
                self._end(running, "ok")
        except OSError as error:
            self._end(running, _name(error))

    def _end(self, running: _Running, status: str) -> None:
        self._selector.unregister(running.socket)
        running.finish(status)

    def _expire(self, everything: Sequence[_Running], *, always: bool) -> None:
        for running in everything:
            if running.outcome is None and (always or time.monotonic() - running.started > self._timeout_s):
                self._end(running, "ETIMEDOUT")


def _name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "EIO")


def start(namespaces: Namespaces, node: str, calls: Sequence[Call], timeout_s: float) -> tuple[int, int]:
    """Fork a process that runs the series in `node`; return (pid, descriptor that will carry the outcomes)."""
    reader, writer = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        try:
            syscalls.die_with_parent(signal.SIGKILL)
            os.setpriority(os.PRIO_PROCESS, 0, 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(reader)
            with namespaces.inside(node):
                outcomes = Series(calls, timeout_s).run()
            with os.fdopen(writer, "wb") as stream:
                stream.write(encode_outcomes(outcomes))
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    return pid, reader


def encode_outcomes(outcomes: Sequence[Outcome]) -> bytes:
    from lvslab.agent.wire import Message, encode_message  # noqa: PLC0415 - only the child needs it

    fields = [[outcome.status, outcome.source_port, outcome.seconds] for outcome in outcomes]
    return encode_message(Message({"outcomes": fields}, tuple(outcome.answer for outcome in outcomes)))
