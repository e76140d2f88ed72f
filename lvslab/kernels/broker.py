"""The broker: one process per lab that holds the kernel, and with it everything the lab is.

It starts the kernel, relays frames between the client's socket and the line to the agent, keeps the
window the line needs, and ends the kernel and removes the lab's folder when the client goes away, however
that happens. It runs on the standard library alone: ``python3 -I -S broker.py JSON``.
"""

import json
import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from lvslab.agent.syscalls import become_subreaper, die_with_parent, name_process
from lvslab.agent.wire import CREDIT_PAYLOAD, FrameReader, Kind, WireFrame
from lvslab.kernels.folder import KERNEL_LOG, read_journal, remove_lab, write_journal

READ_BYTES = 1 << 16
MAX_WAITING_BYTES = 1 << 20
LOG_TAIL_BYTES = 600


@dataclass(frozen=True, slots=True)
class Orders:
    """What the broker is to hold: descriptors, the kernel's program, and the window of its line in bytes."""

    folder: str
    client: int
    line: int
    kernel_line: int
    argv: list[str]
    environment: dict[str, str]
    window_bytes: int

    @classmethod
    def from_json(cls, text: str) -> "Orders":
        return cls(**json.loads(text))


class Broker:
    """Relays until the client or the kernel is gone."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._folder = Path(orders.folder)
        self._client = socket.socket(fileno=orders.client)
        self._line = socket.socket(fileno=orders.line)
        self._from_kernel = FrameReader()
        self._to_kernel = bytearray()
        self._to_client = bytearray()
        self._credit = orders.window_bytes
        self._selector = selectors.DefaultSelector()
        self._ended = ""
        self._group = 0

    def run(self) -> None:
        try:
            self._start_kernel()
            self._relay()
            self._tell_client()
        finally:
            self._end_kernel()
            remove_lab(self._folder)

    def _start_kernel(self) -> None:
        orders = self._orders
        journal = read_journal(self._folder)
        journal |= {"broker": os.getpid(), "program": str(Path(orders.argv[0]).resolve())}
        write_journal(self._folder, journal)
        become_subreaper()
        self._group = os.fork()
        if self._group == 0:
            self._become_kernel()
        write_journal(self._folder, journal | {"group": self._group})
        os.close(orders.kernel_line)

    def _become_kernel(self) -> None:
        try:
            os.setsid()
            die_with_parent(signal.SIGKILL)
            nothing = os.open(os.devnull, os.O_RDONLY)
            log = os.open(self._folder / KERNEL_LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            for target, fd in ((0, nothing), (1, log), (2, log)):
                os.dup2(fd, target)
            os.set_inheritable(self._orders.kernel_line, True)
            os.chdir(self._folder)
            os.execve(self._orders.argv[0], self._orders.argv, self._orders.environment)  # noqa: S606
        finally:
            os._exit(127)

    def _relay(self) -> None:
        for channel in (self._client, self._line):
            channel.setblocking(False)
            self._selector.register(channel, selectors.EVENT_READ)
        wakeup = self._watch_signals()
        while not self._ended:
            self._watch()
            for key, events in self._selector.select():
                if key.fileobj is wakeup:
                    self._take_signals(wakeup)
                elif events & selectors.EVENT_READ:
                    self._receive(key.fileobj)
            self._flush()

    def _watch_signals(self) -> socket.socket:
        reader, writer = socket.socketpair()
        for end in (reader, writer):
            end.setblocking(False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        self._writer = writer
        self._selector.register(reader, selectors.EVENT_READ)
        return reader

    def _take_signals(self, wakeup: socket.socket) -> None:
        for number in wakeup.recv(READ_BYTES):
            if number != signal.SIGCHLD:
                self._ended = f"the broker was told to stop ({signal.Signals(number).name})"
            else:
                self._reap()

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                if pid == self._group:
                    self._ended = self._ended or "the kernel ended"

    def _watch(self) -> None:
        """Read from the client only while there is room; ask to write only when there is something to write."""
        client = selectors.EVENT_READ if len(self._to_kernel) < MAX_WAITING_BYTES else 0
        line = selectors.EVENT_READ if len(self._to_client) < MAX_WAITING_BYTES else 0
        client |= selectors.EVENT_WRITE if self._to_client else 0
        line |= selectors.EVENT_WRITE if self._to_kernel and self._credit > 0 else 0
        for channel, events in ((self._client, client), (self._line, line)):
            if channel in self._selector.get_map():
                if events:
                    self._selector.modify(channel, events)
                else:
                    self._selector.unregister(channel)
            elif events:
                self._selector.register(channel, events)

    def _receive(self, channel: object) -> None:
        from_client = channel is self._client
        try:
            data = (self._client if from_client else self._line).recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._ended = self._ended or ("the client is gone" if from_client else "the kernel ended")
        elif from_client:
            self._to_kernel += data
        else:
            self._take_frames(data)

    def _take_frames(self, data: bytes) -> None:
        for frame in self._from_kernel.feed(data):
            if frame.kind is Kind.CREDIT:
                self._credit += CREDIT_PAYLOAD.unpack(frame.payload)[0]
            else:
                self._to_client += frame.encode()

    def _flush(self) -> None:
        with suppress(BlockingIOError, OSError):
            if self._to_client:
                del self._to_client[: self._client.send(self._to_client)]
        with suppress(BlockingIOError, OSError):
            while self._to_kernel and self._credit > 0:
                sent = self._line.send(self._to_kernel[: self._credit])
                del self._to_kernel[:sent]
                self._credit -= sent

    def _tell_client(self) -> None:
        log = self._folder / KERNEL_LOG
        tail = log.read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace").strip() if log.exists() else ""
        reason = json.dumps({"reason": self._ended, "log": tail}).encode()
        with suppress(OSError):
            self._client.setblocking(True)
            self._client.settimeout(1)
            self._client.sendall(bytes(self._to_client) + WireFrame(Kind.GONE, 0, reason).encode())

    def _end_kernel(self) -> None:
        """Kill the kernel's process group and collect everything: its helpers are orphans by now."""
        with suppress(ProcessLookupError):
            if self._group:
                os.killpg(self._group, signal.SIGKILL)
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)


def main() -> None:
    name_process("lvslab-broker")
    Broker(Orders.from_json(sys.argv[1])).run()


if __name__ == "__main__":
    main()
