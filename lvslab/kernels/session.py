"""The client's end of a session: this terminal, or these pipes, joined to a program in a node."""

from __future__ import annotations

import errno
import json
import os
import select
import selectors
import signal
import socket
import termios
import tty
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

from lvslab.agent.wire import (
    GRANT_AFTER_PART,
    GRANT_PAYLOAD,
    INPUT_WINDOW_BYTES,
    OUTPUT_WINDOW_BYTES,
    SIZE_PAYLOAD,
    STDERR,
    STDIN,
    STDOUT,
    FrameReader,
    Kind,
    Message,
    WireFrame,
    decode_message,
    message_frames,
)
from lvslab.errors import CannotRun, KernelFault, LvslabError
from lvslab.kernels.attach import receive_frames

READ_BYTES = 1 << 16
INPUT_PIECE_BYTES = 1000
OUTPUT_PIECE_BYTES = select.PIPE_BUF
"""A pipe that poll(2) calls writable has room for so much (pipe(7)): writing it does not block."""
CHANNEL = 1
TO_THE_PROGRAM = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
TO_THE_TERMINAL = (signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP)
_WINDOW_UNKNOWN = os.terminal_size((80, 24))


class ProgramNotFound(LvslabError):
    """There is no such program in the node; the exit status is the one a shell gives (POSIX, 2.8.2)."""

    exit_status = 127


class ProgramNotRunnable(LvslabError):
    """It is there and cannot be executed; the exit status is the one a shell gives (POSIX, 2.8.2)."""

    exit_status = 126


@dataclass(frozen=True, slots=True)
class SessionOrder:
    """What to run: the node, argv, extra environment, and whether it gets a terminal."""

    node: str
    argv: Sequence[str]
    environment: dict[str, str]
    terminal: bool
    folder: str = "/"
    """Working directory, if the node has it."""


def run_session(connection: socket.socket, order: SessionOrder) -> int:
    """Run a program in a node with this process's stdin, stdout and stderr; return its exit status.

    A program that a signal ended gives 128 plus its number, as in a shell. Raises ProgramNotFound or
    ProgramNotRunnable; KernelFault if the lab goes away; BrokenPipeError if who reads our output does.
    """
    client = _Client(connection, order)
    with client.signals(), _raw_terminal(order.terminal):
        client.open()
        return client.run()


class _Client:
    """Moves data both ways without ever waiting for one of the two: a signal must get through at any time."""

    def __init__(self, connection: socket.socket, order: SessionOrder) -> None:
        self._connection = connection
        self._order = order
        self._frames = FrameReader()
        # Not epoll(7), which refuses regular files.
        self._selector = selectors.PollSelector()
        self._credit = INPUT_WINDOW_BYTES
        self._outputs = {STDOUT: bytearray(), STDERR: bytearray()}
        """What waits to be written, by descriptor."""
        self._written = 0
        """What has been written and is not granted again yet."""
        self._status: int | None = None
        self._stdin_ended = False
        self._wakeup, self._signalled = socket.socketpair()
        self._signalled.setblocking(False)

    def open(self) -> None:
        order = self._order
        rows, columns = _size() if order.terminal else (0, 0)
        fields = {
            "op": "open_session",
            "node": order.node,
            "argv": list(order.argv),
            "environment": order.environment,
            "terminal": order.terminal,
            "folder": order.folder,
            "rows": rows,
            "columns": columns,
        }
        self._send_bytes(message_frames(CHANNEL, Message(fields)))
        self._selector.register(self._wakeup, selectors.EVENT_READ)

    def run(self) -> int:
        while self._status is None or any(self._outputs.values()):
            self._watch(STDIN, selectors.EVENT_READ, wanted=self._wants_input())
            # After the program's end nothing more comes, not even that the lab is gone.
            self._watch(self._connection.fileno(), selectors.EVENT_READ, wanted=self._status is None)
            for fd, waiting in self._outputs.items():
                self._watch(fd, selectors.EVENT_WRITE, wanted=bool(waiting))
            for key, _ in self._selector.select():
                self._advance(key.fileobj)
        return self._status

    def _wants_input(self) -> bool:
        """Read stdin only while the program's end has room."""
        return self._credit > 0 and not self._stdin_ended and self._status is None

    def _watch(self, fd: int, event: int, *, wanted: bool) -> None:
        watched = fd in self._selector.get_map()
        if wanted and not watched:
            self._selector.register(fd, event)
        elif watched and not wanted:
            self._selector.unregister(fd)

    def _advance(self, ready: object) -> None:
        if ready == self._connection.fileno():
            self._receive()
        elif ready is self._wakeup:
            self._take_signals()
        elif ready == STDIN:
            self._read_stdin()
        elif isinstance(ready, int):
            self._write(ready)

    def _read_stdin(self) -> None:
        try:
            data = os.read(STDIN, min(INPUT_PIECE_BYTES, self._credit))
        except BlockingIOError:
            return
        except OSError:
            # A terminal that is gone, or nothing that can be read: the program sees the end of its input.
            data = b""
        self._credit -= len(data)
        self._stdin_ended = not data
        if self._stdin_ended and self._order.terminal:
            self._end(signal.SIGHUP)
        self._send(Kind.STREAM, bytes([STDIN]) + data)

    def _receive(self) -> None:
        receive_frames(self._connection, self._frames, self._take)

    def _take(self, frame: WireFrame) -> None:
        match frame.kind:
            case Kind.STREAM:
                self._outputs[frame.payload[0]] += frame.payload[1:]
            case Kind.GRANT:
                self._credit += GRANT_PAYLOAD.unpack(frame.payload)[0]
            case Kind.EXIT:
                status = json.loads(frame.payload)["status"]
                self._status = status if status >= 0 else 128 - status
            case Kind.GONE:
                gone = json.loads(frame.payload)
                last_words = gone["last_words"] or None
                raise KernelFault(gone["reason"], found=last_words, next_step="lvslab up starts it again")
            case Kind.LAST:
                error = decode_message(frame.payload).fields.get("error")
                if error:
                    raise _not_started(self._order.argv[0], error)

    def _write(self, fd: int) -> None:
        """Write some of what waits, then grant as much again: whoever reads us slowly slows only this session."""
        waiting = self._outputs[fd]
        try:
            written = os.write(fd, waiting[:OUTPUT_PIECE_BYTES])
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise
        except OSError as error:
            raise CannotRun("the program's output cannot be passed on", found=error.strerror) from error
        del waiting[:written]
        self._written += written
        if self._written >= OUTPUT_WINDOW_BYTES // GRANT_AFTER_PART:
            self._send(Kind.GRANT, GRANT_PAYLOAD.pack(self._written))
            self._written = 0

    def _send(self, kind: Kind, payload: bytes) -> None:
        self._send_bytes(WireFrame(kind, CHANNEL, payload).encode())

    def _send_bytes(self, data: bytes) -> None:
        # A broker that is gone has left its last words to be received.
        with suppress(ConnectionError):
            self._connection.sendall(data)

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Pass signals on to the program; with a terminal Ctrl-C travels as a character instead."""

        def note(number: int, _frame: FrameType | None) -> None:
            with suppress(BlockingIOError):
                self._signalled.send(bytes([number]))

        numbers = TO_THE_TERMINAL if self._order.terminal else TO_THE_PROGRAM
        before = {number: signal.signal(number, note) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take_signals(self) -> None:
        for number in self._wakeup.recv(READ_BYTES):
            if number == signal.SIGWINCH:
                self._send(Kind.RESIZE, SIZE_PAYLOAD.pack(*_size()))
            elif self._order.terminal:
                self._end(number)
            else:
                self._send(Kind.SIGNAL, bytes([number]))

    def _end(self, number: int) -> None:
        """Leave as if `number` had ended us: the program is told by the agent that its terminal is gone."""
        self._status = 128 + number
        for waiting in self._outputs.values():
            waiting.clear()


def _not_started(program: str, error: Mapping[str, object]) -> LvslabError:
    kind: type[LvslabError] = KernelFault
    if error["errno"] == errno.ENOENT:
        kind = ProgramNotFound
    elif error["errno"] in (errno.EACCES, errno.ENOEXEC, errno.EISDIR, errno.ENOTDIR):
        kind = ProgramNotRunnable
    return kind("the program could not be started", where=program, found=str(error["text"]))


@contextmanager
def _raw_terminal(terminal: bool) -> Iterator[None]:
    """Let every key through as it is, and put the terminal back afterwards however the session ends."""
    if not terminal:
        yield
        return
    before = termios.tcgetattr(STDIN)
    try:
        tty.setraw(STDIN)
        yield
    finally:
        # At once: draining would wait for a terminal that is stopped. It may also be gone.
        with suppress(termios.error):
            termios.tcsetattr(STDIN, termios.TCSANOW, before)


def _size() -> tuple[int, int]:
    try:
        columns, rows = os.get_terminal_size(STDOUT)
    except OSError:
        columns, rows = _WINDOW_UNKNOWN
    return rows, columns
