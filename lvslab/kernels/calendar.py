"""Virtual time: the calendar that a User-Mode Linux kernel asks before its clock moves on.

The kernel's own clock stands still while anything runs. When nothing does, it asks for the time of its next timer
(``time-travel=ext:SOCKET``; include/uapi/linux/um_timetravel.h), and gets it at once, at the pace of a wall clock, or
not until there is something to do: as the agent says that its work wants time to flow.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from pathlib import Path

from lvslab.agent.wire import Flow

SOCKET = "clock"
START_NS = 1_704_067_200 * 10**9
"""The date on which every virtual clock starts, 2024-01-01 00:00 UTC, so that runs may repeat exactly."""
MIN_FREE_NS, MAX_FREE_NS = 10**6, 10**9
"""How far the kernel may go without asking again: each question takes longer than most of what it does between two."""
FREE_PART = 20
"""Time that has flown freely for long goes on in larger steps: this part of it."""
WAKE_S = 1.0
MAX_SILENT_WAKES = 30
"""So many seconds without a question: somebody computes, and nobody else can run to ask."""
BUSY = (
    "a program waits busily, or computed for half a minute without a pause: in virtual time nothing else can run "
    "meanwhile, and no time passes"
)
_MESSAGE = struct.Struct("=IIQ")
_READ_BYTES = _MESSAGE.size * 64


class _Op(IntEnum):
    """enum um_timetravel_ops, without BROADCAST."""

    ACK = 0
    START = 1
    REQUEST = 2
    WAIT = 3
    GET = 4
    UPDATE = 5
    RUN = 6
    FREE_UNTIL = 7
    GET_TOD = 8


class Calendar:
    """One kernel's calendar. `waiting` says that the kernel has nothing to do before the time it asked for."""

    def __init__(self, folder: Path, wall_ns: Callable[[], int] = time.monotonic_ns) -> None:
        """Listen in the lab's folder, where the kernel will be started."""
        self._wall_ns = wall_ns
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        os.chdir(folder)
        self._listener.bind(SOCKET)
        self._listener.listen(1)
        self._kernel: socket.socket | None = None
        self._buffer = bytearray()
        self._sent = 0
        self._now_ns = 0
        self._requested_ns = 0
        self._flow = Flow.FREE
        self._free_from_ns = 0
        self._pace_from = (0, 0)
        """Wall clock and kernel's clock at the moment from which they are to keep pace."""
        self._silent_wakes = 0
        self._gone = False
        self.waiting = False

    @property
    def descriptor(self) -> int | None:
        """What to watch for the kernel's next question; None once it is gone."""
        return None if self._gone else (self._kernel or self._listener).fileno()

    @property
    def stuck(self) -> bool:
        return self._silent_wakes >= MAX_SILENT_WAKES

    def set_flow(self, flow: Flow) -> None:
        if flow is self._flow:
            return
        self._flow = flow
        self._free_from_ns = self._now_ns
        self._pace_from = (self._wall_ns(), self._now_ns)

    def receive(self) -> None:
        """Take what the kernel says. Its end of the socket closes when it ends, which others will notice."""
        if self._kernel is None:
            self._kernel, _ = self._listener.accept()
            self._listener.close()
            return
        self._silent_wakes = 0
        data = _received(self._kernel)
        self._gone = not data
        self._buffer += data
        whole = len(self._buffer) - len(self._buffer) % _MESSAGE.size
        for op, sequence, time_ns in _MESSAGE.iter_unpack(self._buffer[:whole]):
            self._take(op, sequence, time_ns)
        del self._buffer[:whole]

    def _take(self, op: int, sequence: int, time_ns: int) -> None:
        if op == _Op.ACK:
            return
        if op == _Op.REQUEST:
            self._requested_ns = time_ns
        elif op == _Op.UPDATE:
            self._now_ns = time_ns
        elif op == _Op.WAIT:
            self.waiting = True
        self._send(_Op.ACK, sequence, {_Op.GET: self._now_ns, _Op.GET_TOD: START_NS}.get(_Op(op), 0))

    def nothing_came(self) -> None:
        """A wake of the broker without any event: count it if the kernel is silent and not waiting for us."""
        if self._kernel is not None and not self._gone and not self.waiting:
            self._silent_wakes += 1

    def advance(self, *, has_input: bool) -> None:
        """Let the kernel go on to the time it asked for, if that may come; `has_input`: it has input to take."""
        if self.waiting and (has_input or self._due_in_ns() == 0):
            self.waiting = False
            self._now_ns = self._requested_ns
            self._send(_Op.FREE_UNTIL, self._next_sequence(), self._now_ns + self._step_ns())
            self._send(_Op.RUN, self._next_sequence(), self._now_ns)

    def timeout_s(self) -> float | None:
        """Return how long the broker may sleep if nothing happens; None: for ever."""
        if not self.waiting:
            return WAKE_S
        due_ns = self._due_in_ns()
        return None if due_ns is None else due_ns / 1e9

    def _due_in_ns(self) -> int | None:
        """Return how far on the wall clock the requested time is away, None if it shall not come by itself."""
        if self._flow is Flow.FREE:
            return 0
        if self._flow is Flow.STAND:
            return None
        wall_ns, kernel_ns = self._pace_from
        return max(0, self._requested_ns - kernel_ns - (self._wall_ns() - wall_ns))

    def _step_ns(self) -> int:
        if self._flow is not Flow.FREE:
            return MIN_FREE_NS
        return min(MAX_FREE_NS, max(MIN_FREE_NS, (self._now_ns - self._free_from_ns) // FREE_PART))

    def _next_sequence(self) -> int:
        self._sent += 1
        return self._sent

    def _send(self, op: _Op, sequence: int, time_ns: int) -> None:
        if self._kernel is not None:
            with suppress(ConnectionError):  # it has ended, which its line says too
                self._kernel.sendall(_MESSAGE.pack(op, sequence, time_ns))


def _received(channel: socket.socket) -> bytes:
    try:
        return channel.recv(_READ_BYTES)
    except ConnectionError:
        return b""
