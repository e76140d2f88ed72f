"""Test clients inside a node: connections one after another, each from a chosen source address and port.

A connection that hangs does not stop the series: after `GAP_S` the next one starts, so the order in which
connections begin, which is what a scheduler sees, is always the order asked for.
"""

from __future__ import annotations

import os
import select
import selectors
import signal
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from lvslab.agent import syscalls
from lvslab.agent.calls import RECEIVE_BYTES, Call, Outcome, bind_source, error_name, open_socket
from lvslab.agent.load import Load, LoadOrder
from lvslab.agent.namespaces import NETNS_FOLDER
from lvslab.agent.one_call import make_call
from lvslab.agent.wire import Message, decode_message, encode_message

GAP_S = 0.25
HURRIED_GAP_S = 0.02
STUCK_BEFORE_HURRY = 3
_LENGTH_PREFIX_BYTES = 2
_SIZE = struct.Struct("!I")


class _Running:
    """A call under way."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.started = time.monotonic()
        self.answer = b""
        self.outcome: Outcome | None = None
        self.source_port = call.source_port
        self._unsent = call.question
        self.socket = open_socket(call)
        self.socket.setblocking(False)

    def begin(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bind_source(self.socket, self.call.source, self.call.source_port)
        with suppress(BlockingIOError):
            self.socket.connect((self.call.address, self.call.port))
        self.source_port = self.socket.getsockname()[1]

    def writable(self) -> bool:
        """Send what can be sent; return whether the whole question is out."""
        code = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        self._unsent = self._unsent[self.socket.send(self._unsent) :]
        return not self._unsent

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
            running.finish(error_name(error))
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
                if running.writable():
                    self._selector.modify(running.socket, selectors.EVENT_READ, running)
            elif running.readable():
                self._end(running, "ok")
        except BlockingIOError:
            # A datagram with a bad checksum wakes the reader and is then thrown away (net/ipv4/udp.c).
            return
        except OSError as error:
            self._end(running, error_name(error))

    def _end(self, running: _Running, status: str) -> None:
        self._selector.unregister(running.socket)
        running.finish(status)

    def _expire(self, everything: Sequence[_Running], *, always: bool) -> None:
        for running in everything:
            if running.outcome is None and (always or time.monotonic() - running.started > self._timeout_s):
                self._end(running, "ETIMEDOUT")


class Worker:
    """A process that runs series of calls, one at a time; it outlives them, since a fork is dear in a guest."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                ours.close()
                _work(theirs)
            finally:
                os._exit(1)
        theirs.close()
        self.socket = ours
        self._received = bytearray()

    def submit(self, order: Message) -> None:
        data = encode_message(order)
        self.socket.sendall(_SIZE.pack(len(data)) + data)

    def is_alive(self) -> bool:
        """Whether it can take an order: one that has ended has closed its end, or left it with something to read."""
        return not select.select([self.socket], [], [], 0)[0]

    def kill(self) -> None:
        """Break off what it is doing, for good; `receive` then raises EOFError."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def receive(self) -> Message | None:
        """Take what came; return the answer once it is complete. Raises EOFError when the worker is gone."""
        data = self.socket.recv(RECEIVE_BYTES)
        if not data:
            raise EOFError("the test client is gone")
        self._received += data
        if len(self._received) < _SIZE.size:
            return None
        end = _SIZE.size + _SIZE.unpack_from(self._received)[0]
        if len(self._received) < end:
            return None
        answer = decode_message(bytes(self._received[_SIZE.size : end]))
        del self._received[:end]
        return answer


def _work(channel: socket.socket) -> None:
    """The worker's life: orders in, outcomes out, until the agent is gone."""
    syscalls.die_with_parent(signal.SIGKILL)
    os.setpriority(os.PRIO_PROCESS, 0, 0)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # What the agent holds open must not stay open here: namespaces, rings, listening sockets.
    os.closerange(3, channel.fileno())
    os.closerange(channel.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
    stream = channel.makefile("rb")
    while head := stream.read(_SIZE.size):
        order = decode_message(stream.read(_SIZE.unpack(head)[0]))
        data = encode_message(_carry_out(order))
        channel.sendall(_SIZE.pack(len(data)) + data)
    os._exit(0)


def _outcomes(calls: Sequence[Call], fields: dict[str, Any]) -> list[Outcome]:
    """Make the calls in order: as a series, or each by itself where it is said how they end."""
    ending = fields.get("ending")
    if ending is None:
        return Series(calls, fields["timeout_s"]).run()
    return [make_call(call, ending, fields["timeout_s"]) for call in calls]


def _carry_out(order: Message) -> Message:
    fields = order.fields
    namespace = os.open(NETNS_FOLDER / fields["node"], os.O_RDONLY | os.O_CLOEXEC)
    try:
        syscalls.setns(namespace, syscalls.CLONE_NEWNET)
    finally:
        os.close(namespace)
    return _load(order) if fields["op"] == "load" else _call(order)


def _call(order: Message) -> Message:
    fields = order.fields
    calls = [Call.from_fields(call, question) for call, question in zip(fields["calls"], order.blobs, strict=True)]
    outcomes = _outcomes(calls, fields)
    summary = [[outcome.status, outcome.source_port, outcome.seconds] for outcome in outcomes]
    return Message({"outcomes": summary}, tuple(outcome.answer for outcome in outcomes))


def _load(order: Message) -> Message:
    (question,) = order.blobs
    tally, seconds = Load(LoadOrder.from_fields(order.fields, question)).run()
    servers = [[name, count, tally.bytes[name]] for name, count in sorted(tally.connections.items())]
    return Message({"seconds": seconds, "servers": servers, "failures": dict(tally.failures)})
