"""The agent's event loop: frames in, operations, frames out."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import selectors
import signal
import socket
import struct
import termios
import time
from collections.abc import Callable

from lvslab.agent.operations import Operations
from lvslab.agent.wire import (
    CREDIT_AFTER_BYTES,
    CREDIT_PAYLOAD,
    Flow,
    FrameReader,
    Kind,
    Message,
    MessageReader,
    WireFrame,
    message_frames,
)

READ_BYTES = 1 << 16
MAX_DESCRIPTORS = 65536
TICK_S = {Flow.STAND: 0.001, Flow.PACED: 0.01}
PUSH_S = 0.001
_LENGTH = struct.Struct("@i")
RECORDER_NICE = -10
"""The agent goes first when there is one processor: a ring that is not drained loses frames."""


class Agent:
    """Serves one line (a descriptor) until it closes."""

    def __init__(self, line: int, *, virtual_time: bool = False) -> None:
        self._line = line
        self._virtual_time = virtual_time
        self._flow = Flow.FREE
        self._selector = selectors.DefaultSelector()
        self._operations = Operations(self._selector, self._send_on)
        self._frames = FrameReader()
        self._messages = MessageReader()
        self._unacknowledged = 0
        self._outgoing = bytearray()
        self._open = True

    def run(self) -> None:
        allow_many_descriptors()
        if os.geteuid() == 0:
            os.nice(RECORDER_NICE)
        os.set_blocking(self._line, False)
        self._selector.register(self._line, selectors.EVENT_READ, self._receive)
        self._watch_children()
        self._send(WireFrame(Kind.HELLO, 0, json.dumps(hello(self._virtual_time)).encode()).encode())
        self._operations.add_client()
        while self._open:
            for key, events in self._selector.select(self._patience_s()):
                key.data(events)
            self._operations.run_timers()

    def _patience_s(self) -> float | None:
        """Return how long to wait for something to happen; where time is virtual, say how it is to flow meanwhile.

        A kernel whose time stands still or is paced takes input only when a timer ends: so there is always one.
        """
        until_timer_s = self._operations.next_timer_s()
        if not self._virtual_time:
            return until_timer_s
        self._let_time_flow(self._operations.flow())
        if self._push():
            return PUSH_S
        return TICK_S.get(self._flow, until_timer_s)

    def _push(self) -> bool:
        """Have the kernel send what it holds back; return whether there was anything.

        It waits for room, and where it asks for its time it misses the news that there is some
        (arch/um/kernel/irq.c: with timetravel_handlers_only events are taken and not handled). Writing makes it try.
        """
        held_back = bytearray(_LENGTH.size)
        fcntl.ioctl(self._line, termios.TIOCOUTQ, held_back)
        if not self._outgoing and not any(held_back):
            return False
        self._send(b"" if self._outgoing else WireFrame(Kind.CREDIT, 0, CREDIT_PAYLOAD.pack(0)).encode())
        return True

    def _let_time_flow(self, flow: Flow) -> None:
        if flow is not self._flow:
            self._flow = flow
            self._send(WireFrame(Kind.FLOW, 0, bytes([flow])).encode())

    def _watch_children(self) -> None:
        reader, writer = socket.socketpair()
        for end in (reader, writer):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        self._wakeup = (reader, writer)

        def reap(_events: int) -> None:
            reader.recv(READ_BYTES)
            self._operations.reap()

        self._selector.register(reader, selectors.EVENT_READ, reap)

    def _receive(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._flush()
        if not events & selectors.EVENT_READ:
            return
        try:
            data = os.read(self._line, READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._open = False
            return
        if self._virtual_time:
            self._let_time_flow(Flow.FREE)
        self._acknowledge(len(data))
        for frame in self._frames.feed(data):
            if frame.kind not in (Kind.PART, Kind.LAST):
                self._operations.take(frame)
                continue
            message = self._messages.take(frame)
            if message is not None:
                self._handle(message, frame.channel)

    def _acknowledge(self, count: int) -> None:
        self._unacknowledged += count
        # Where time is virtual the broker must know that everything has been taken.
        if self._unacknowledged >= (1 if self._virtual_time else CREDIT_AFTER_BYTES):
            self._send(WireFrame(Kind.CREDIT, 0, CREDIT_PAYLOAD.pack(self._unacknowledged)).encode())
            self._unacknowledged = 0

    def _answer_on(self, channel: int) -> Callable[[Message], None]:
        return lambda message: self._send(message_frames(channel, message))

    def _send_on(self, channel: int, kind: Kind, payload: bytes) -> None:
        self._send(WireFrame(kind, channel, payload).encode())

    def _handle(self, message: Message, channel: int) -> None:
        answer = self._operations.expect_answer(self._answer_on(channel))
        try:
            self._operations.handle(message, channel, answer)
        except OSError as error:
            text = error.strerror or str(error)
            answer(Message({"error": {"errno": error.errno or 0, "text": text, "file": str(error.filename or "")}}))
        except MemoryError:
            answer(Message({"error": {"errno": errno.ENOMEM, "text": os.strerror(errno.ENOMEM)}}))
        except Exception as error:  # noqa: BLE001 - the agent must outlive a faulty request, and say what went wrong
            import traceback  # rarely needed, and an import is dear here

            text = f"{type(error).__name__}: {error}"
            answer(Message({"error": {"errno": 0, "text": text, "trace": traceback.format_exc()}}))

    def _send(self, data: bytes) -> None:
        self._outgoing += data
        self._flush()

    def _flush(self) -> None:
        while self._outgoing:
            try:
                sent = os.write(self._line, self._outgoing)
            except BlockingIOError:
                break
            del self._outgoing[:sent]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outgoing else 0)
        self._selector.modify(self._line, events, self._receive)


def allow_many_descriptors() -> None:
    """A node takes a handful: its namespace, netlink sockets, a ring, a server."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if os.geteuid() == 0 else hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))


def hello(virtual_time: bool) -> dict[str, object]:
    system = os.uname()
    return {
        "release": system.release,
        "uptime_s": time.clock_gettime(time.CLOCK_BOOTTIME),
        "virtual_time": virtual_time,
    }
