"""Programs with open streams: `exec` and `shell` in a node, over one line shared by many.

Each session is a channel. Data travels in STREAM frames, at most what the receiver has granted (GRANT
frames), so that one slow reader holds up nobody else. The session ends with one EXIT frame.
"""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import signal
import struct
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lvslab.agent.machines import Machines
from lvslab.agent.processes import Program, spawn_attached
from lvslab.agent.wire import (
    CLIENT_SHIFT,
    GRANT_AFTER_PART,
    GRANT_PAYLOAD,
    INPUT_WINDOW_BYTES,
    OUTPUT_WINDOW_BYTES,
    SIZE_PAYLOAD,
    STDERR,
    STDOUT,
    Kind,
    WireFrame,
)

READ_BYTES = 16000
"""A frame towards the host may be larger than one towards the guest: no window limits that way."""
LAST_BYTES = 1 << 20
"""What an output may still hold when its program ends: no pipe is larger (pipe(7): pipe-max-size). Whoever goes on
writing to it, a process left in the background, is not waited for."""
_SIZE = struct.Struct("HHHH")

Send = Callable[[Kind, bytes], None]
SendOn = Callable[[int, Kind, bytes], None]


@dataclass(slots=True)
class Streams:
    """The agent's ends of a program's streams. With a terminal, input and output are one descriptor."""

    stdin: int
    outputs: dict[int, int]
    """Stream number by descriptor."""
    terminal: bool
    child_ends: list[int] = field(default_factory=list)
    """What the program gets as 0, 1 and 2; closed here once it runs."""


def open_terminal(rows: int, columns: int) -> Streams:
    master, slave = os.openpty()
    set_size(master, rows, columns)
    return Streams(master, {master: STDOUT}, terminal=True, child_ends=[slave, slave, slave])


def open_pipes() -> Streams:
    (stdin_read, stdin), (stdout, stdout_write), (stderr, stderr_write) = (os.pipe2(os.O_CLOEXEC) for _ in range(3))
    outputs = {stdout: STDOUT, stderr: STDERR}
    return Streams(stdin, outputs, terminal=False, child_ends=[stdin_read, stdout_write, stderr_write])


def set_size(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, _SIZE.pack(rows, columns, 0, 0))


class Session:
    """One running program and its streams."""

    def __init__(self, selector: selectors.BaseSelector, send: Send, streams: Streams, pid: int) -> None:
        self.pid = pid
        self._selector = selector
        self._send = send
        self._streams = streams
        self._credit = OUTPUT_WINDOW_BYTES
        self._input = bytearray()
        self._taken = 0
        """Input that the program has taken and that is not granted again yet."""
        self._input_ended = False
        self._stdin_open = True
        self._watched: dict[int, int] = {}
        """Events waited for, by descriptor."""
        for fd in {streams.stdin, *streams.outputs}:
            os.set_blocking(fd, False)
        self._watch()

    @property
    def has_terminal(self) -> bool:
        return self._streams.terminal

    def take(self, frame: WireFrame) -> None:
        """Take one frame of the client's."""
        match frame.kind:
            case Kind.STREAM:
                self._take_input(frame.payload[1:])
            case Kind.GRANT:
                self._credit += GRANT_PAYLOAD.unpack(frame.payload)[0]
            case Kind.SIGNAL:
                with suppress(ProcessLookupError):
                    os.killpg(self.pid, frame.payload[0])
            case Kind.RESIZE:
                rows, columns = SIZE_PAYLOAD.unpack(frame.payload)
                set_size(self._streams.stdin, rows, columns)
        self._watch()

    def hang_up(self, number: signal.Signals) -> None:
        """The client is gone: tell the program as a closed terminal would, or end it.

        With a terminal that goes to the job in the foreground too, which has a process group of its own.
        """
        groups = {self.pid}
        if self._streams.terminal:
            with suppress(OSError):
                groups.add(os.tcgetpgrp(self._streams.stdin))
        for group in groups - {0}:
            with suppress(ProcessLookupError):
                os.killpg(group, number)

    def ended(self, status: int) -> None:
        """The program has ended: pass on what it had still written, then say so."""
        for fd in list(self._streams.outputs):
            self._credit = LAST_BYTES
            while self._credit > 0 and self._read(fd):
                pass
        open_still = set(self._streams.outputs) | ({self._streams.stdin} if self._stdin_open else set())
        for fd in open_still:
            self._unwatch(fd)
            os.close(fd)
        self._streams.outputs.clear()
        self._stdin_open = False
        self._send(Kind.EXIT, json.dumps({"status": status}).encode())

    def _take_input(self, data: bytes) -> None:
        if data:
            self._input += data
        else:
            self._input_ended = True
        self._write_input()

    def _write_input(self) -> None:
        if not self._stdin_open:
            self._grant(len(self._input))
            self._input.clear()
            return
        try:
            while self._input:
                written = os.write(self._streams.stdin, self._input)
                del self._input[:written]
                self._grant(written)
        except BlockingIOError:
            return
        except OSError:
            self._grant(len(self._input))
            self._input.clear()
        if self._input_ended and not self._streams.terminal:
            self._close_stdin()

    def _grant(self, count: int) -> None:
        self._taken += count
        if self._taken >= INPUT_WINDOW_BYTES // GRANT_AFTER_PART:
            self._send(Kind.GRANT, GRANT_PAYLOAD.pack(self._taken))
            self._taken = 0

    def _close_stdin(self) -> None:
        self._stdin_open = False
        self._unwatch(self._streams.stdin)
        os.close(self._streams.stdin)

    def _ready(self, fd: int, events: int) -> None:
        if fd not in self._watched:
            # It was ready when the selector looked, and what was handled since has closed it: the program ended.
            return
        if events & selectors.EVENT_WRITE:
            self._write_input()
        if events & selectors.EVENT_READ and fd in self._streams.outputs:
            self._read(fd)
        self._watch()

    def _read(self, fd: int) -> bool:
        """Pass on what an output holds; return whether there may be more."""
        try:
            data = os.read(fd, min(READ_BYTES, self._credit))
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if data:
            self._credit -= len(data)
            self._send(Kind.STREAM, bytes([self._streams.outputs[fd]]) + data)
            return True
        self._send(Kind.STREAM, bytes([self._streams.outputs.pop(fd)]))
        self._unwatch(fd)
        if not self._streams.terminal:
            os.close(fd)
        return False

    def _watch(self) -> None:
        """Read outputs only while there is credit; wait to write only while there is input."""
        wanted: dict[int, int] = {}
        if self._credit > 0:
            wanted = dict.fromkeys(self._streams.outputs, selectors.EVENT_READ)
        if self._input and self._stdin_open:
            wanted[self._streams.stdin] = wanted.get(self._streams.stdin, 0) | selectors.EVENT_WRITE
        for fd in self._watched.keys() - wanted.keys():
            self._unwatch(fd)
        for fd, events in wanted.items():
            before = self._watched.get(fd)
            if before is None:
                self._selector.register(fd, events, partial(self._ready, fd))
            elif before != events:
                self._selector.modify(fd, events, partial(self._ready, fd))
            self._watched[fd] = events

    def _unwatch(self, fd: int) -> None:
        if self._watched.pop(fd, None) is not None:
            self._selector.unregister(fd)


class Sessions:
    """All sessions of one lab, by channel."""

    def __init__(self, selector: selectors.BaseSelector, send: SendOn, machines: Machines) -> None:
        self._selector = selector
        self._send = send
        self._machines = machines
        self._sessions: dict[int, Session] = {}

    def open(self, channel: int, fields: Mapping[str, Any]) -> tuple[int, Callable[[int], None]]:
        """Start a program; return its pid and what to call with its exit status."""
        terminal = fields["terminal"]
        streams = open_terminal(fields["rows"], fields["columns"]) if terminal else open_pipes()
        program = Program(tuple(fields["argv"]), fields["environment"], folder=fields["folder"])
        try:
            pid = spawn_attached(self._machines, fields["node"], program, streams.child_ends, terminal=terminal)
        except OSError:
            for fd in {streams.stdin, *streams.outputs}:
                os.close(fd)
            raise
        finally:
            for fd in set(streams.child_ends):
                os.close(fd)
        session = Session(self._selector, partial(self._send, channel), streams, pid)
        self._sessions[channel] = session

        def ended(status: int) -> None:
            session.ended(status)
            self._sessions.pop(channel, None)

        return pid, ended

    @property
    def terminals_open(self) -> bool:
        return any(session.has_terminal for session in self._sessions.values())

    @property
    def programs_running(self) -> bool:
        """Whether there are programs without a terminal."""
        return not all(session.has_terminal for session in self._sessions.values())

    def take(self, frame: WireFrame) -> None:
        """Take a frame for a session; one that has ended takes no more, and one that makes no sense does nothing."""
        session = self._sessions.get(frame.channel)
        if session is not None:
            with suppress(OSError, LookupError, struct.error):
                session.take(frame)

    def hang_up(self, client: int, number: signal.Signals) -> bool:
        """Signal the programs of a client that is gone; return whether there were any."""
        orphans = [session for channel, session in self._sessions.items() if channel >> CLIENT_SHIFT == client]
        for session in orphans:
            session.hang_up(number)
        return bool(orphans)
