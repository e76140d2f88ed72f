"""The client's end of a live capture: ring blocks come from the agent, a pcapng stream goes out.

Frames leave in order of time across nodes as long as the reader keeps up: each is held back for REORDER_WINDOW_S.
With a reader that does not, the kernel drops frames (which are counted), and those of one node may come behind later
ones of another.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType

from lvslab.agent.ring import LONGEST_FILLING_S
from lvslab.agent.wire import (
    GRANT_PAYLOAD,
    FrameReader,
    Kind,
    Message,
    MessageReader,
    WireFrame,
    message_frames,
)
from lvslab.capture.frame import Frame
from lvslab.capture.pcapng_writer import PcapngEncoder
from lvslab.capture.reorder import ReorderWindow
from lvslab.capture.spool import SpoolReader, link_type
from lvslab.errors import BadInput, KernelFault
from lvslab.kernels.attach import receive_frames
from lvslab.sandbox.devices import Devices

CHANNEL = 1
READ_BYTES = 1 << 16
RING_BUDGET_BYTES = 24 << 20
"""Memory for the rings of one live capture, shared among them."""
MIN_RING_BYTES = 128 << 10
MAX_RING_BYTES = 2 << 20
REORDER_WINDOW_S = LONGEST_FILLING_S + 0.03
"""The longest that a block can take to fill, and something for the way to the host."""
IMPATIENT_AFTER_S = 0.5
"""timeout(1) and others send a signal twice; whoever sends one after this time does not want to wait any longer."""
END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Tap:
    """What is heard: one interface of a node, or all of them."""

    node: str
    interface: str = ""


@dataclass(slots=True)
class Summary:
    """What a live capture came to."""

    frames: int = 0
    dropped: Mapping[str, int] | None = field(default=None)
    """Frames the kernel could not record, by node; None if the lab went away before it could say."""
    fault: KernelFault | None = None
    """Why the lab went away, if it did."""


class _ReaderGone(Exception):
    """Nobody reads the output any longer."""


def capture_live(
    connection: socket.socket,
    devices: Devices,
    taps: Sequence[Tap],
    output: int,
    *,
    limit: int | None = None,
    begun: Callable[[], None] = lambda: None,
) -> Summary:
    """Write what `taps` hear to the descriptor `output` as pcapng, until told to stop; call `begun` once they hear.

    It stops at SIGINT, SIGTERM or SIGHUP, after `limit` frames, when nobody reads the output any longer, and when the
    lab goes away; what was written is a valid file then. A further signal, at least IMPATIENT_AFTER_S later, raises
    KeyboardInterrupt. Raises KernelFault if the capture cannot begin, and BadInput if the output takes no more.
    """
    client = _Client(connection, devices, taps, output, limit)
    with client.signals(), suppress(_ReaderGone):
        client.begin()
        begun()
        client.run()
    return client.summary


class _Client:
    def __init__(
        self, connection: socket.socket, devices: Devices, taps: Sequence[Tap], output: int, limit: int | None
    ) -> None:
        self.summary = Summary()
        self._connection = connection
        self._devices = devices
        self._taps = taps
        self._output = output
        self._limit = limit
        self._wire = FrameReader()
        self._messages = MessageReader()
        self._spool = SpoolReader("live capture", [tap.node for tap in taps], devices.name)
        self._window = ReorderWindow(REORDER_WINDOW_S)
        self._encoder = PcapngEncoder()
        self._last_ns = 0
        self._begun = False
        self._ending = False
        self._over = False
        self._wakeup, self._signalled = socket.socketpair()

    def begin(self) -> None:
        """Ask for the capture; once it runs, write what stands before the frames, because readers wait for that."""
        ring_bytes = max(MIN_RING_BYTES, min(MAX_RING_BYTES, RING_BUDGET_BYTES // len(self._taps)))
        rings = [(tap.node, tap.interface, ring_bytes) for tap in self._taps]
        self._connection.sendall(message_frames(CHANNEL, Message({"op": "open_live_capture", "rings": rings})))
        while not self._begun:
            self._receive()
        self._write(self._encoder.section() + b"".join(self._interfaces()))

    def run(self) -> None:
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        poll.register(self._wakeup, select.POLLIN)
        poll.register(self._output, 0)  # tells only that the reader has gone
        while not self._over:
            for descriptor, _ in poll.poll(self._patience_ms()):
                self._advance(descriptor)
            self._write_frames(time.monotonic())
        self._write_frames(float("inf"))
        self._write(self._encoder.losses(_some(self.summary.dropped), self._last_ns))

    def _interfaces(self) -> Iterator[bytes]:
        for node in dict.fromkeys(tap.node for tap in self._taps):
            wanted = {tap.interface for tap in self._taps if tap.node == node}
            for name, hardware in self._devices.hardware(node).items():
                if name in wanted or "" in wanted:
                    yield self._encoder.interface(node, name, link_type(hardware))

    def _patience_ms(self) -> float | None:
        due = self._window.next_s
        return None if due is None else max(0.0, due - time.monotonic()) * 1000

    def _advance(self, descriptor: int) -> None:
        if descriptor == self._connection.fileno():
            self._receive()
        elif descriptor == self._wakeup.fileno():
            self._wakeup.recv(READ_BYTES)
            self._end()
        else:
            raise _ReaderGone

    def _end(self) -> None:
        if not self._ending:
            self._ending = True
            self._send(Kind.SIGNAL, bytes([signal.SIGTERM]))

    def _receive(self) -> None:
        """Take what has come; a lab that goes away ends a capture that has begun, and is a fault before."""
        try:
            receive_frames(self._connection, self._wire, self._take)
        except KernelFault as fault:
            if not self._begun:
                raise
            self.summary.fault = fault
            self._over = True

    def _take(self, frame: WireFrame) -> None:
        match frame.kind:
            case Kind.STREAM:
                data = frame.payload[1:]
                now_s = time.monotonic()
                for fields in self._spool.feed(data):
                    self._window.add(fields, now_s)
                self._send(Kind.GRANT, GRANT_PAYLOAD.pack(len(data)))
            case Kind.EXIT:
                self.summary.dropped = json.loads(frame.payload)["dropped"]
                self._over = True
            case Kind.GONE:
                raise KernelFault(json.loads(frame.payload)["reason"], next_step="see lvslab ps")
            case Kind.PART | Kind.LAST:
                answer = self._messages.take(frame)
                if answer is not None and "error" in answer.fields:
                    raise KernelFault("the capture cannot begin", found=answer.fields["error"]["text"])
                self._begun = answer is not None

    def _write_frames(self, now_s: float) -> None:
        blocks = []
        for fields in self._window.release(now_s):
            if self.summary.frames == self._limit:
                break
            self.summary.frames += 1
            self._last_ns = fields[0]
            blocks.append(self._encoder.packet(Frame(self.summary.frames, *fields)))
        self._write(b"".join(blocks))
        if self.summary.frames == self._limit:
            self._end()

    def _write(self, data: bytes) -> None:
        """Write all of it. While that waits, nothing is read and nothing granted."""
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._output, view) :]
        except BrokenPipeError as error:
            raise _ReaderGone from error
        except OSError as error:
            raise BadInput("the capture cannot be written", found=error.strerror) from error

    def _send(self, kind: Kind, payload: bytes) -> None:
        with suppress(ConnectionError):  # what the broker said before it went is still to be read
            self._connection.sendall(WireFrame(kind, CHANNEL, payload).encode())

    @contextmanager
    def signals(self) -> Iterator[None]:
        """End the capture at a signal; a later one interrupts what waits, such as a write that nobody reads."""
        first_s: float | None = None

        def note(_number: int, _frame: FrameType | None) -> None:
            nonlocal first_s
            if first_s is None:
                first_s = time.monotonic()
                self._signalled.send(b"\0")
            elif time.monotonic() - first_s > IMPATIENT_AFTER_S:
                raise KeyboardInterrupt

        before = {number: signal.signal(number, note) for number in END_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _some(drops: Mapping[str, int] | None) -> dict[str, int]:
    return {node: count for node, count in (drops or {}).items() if count}
