"""A load client inside a node: several connections at once, each fetching an answer and then another, for a time.

What it counts are the bytes of answers that arrived after the warm-up, by the server that says who it is in the first
line of its answer, over the kernel's own clock.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import struct
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from lvslab.agent.calls import bind_source

RECEIVE_BYTES = 1 << 18
END_OF_HEAD = b"\r\n\r\n"
MAX_UNNAMED_BYTES = 1 << 16
"""An answer that has not said by then whose it is has no server."""
RETRY_S = 0.1
"""How long a connection that failed stays closed: with a server down, trying at once would be all there is to do."""
ABORT = struct.pack("ii", 1, 0)
"""SO_LINGER (socket(7)): what is still to come is of no use when the time is over."""


@dataclass(frozen=True, slots=True)
class LoadOrder:
    """What to fetch, how often at once, and for how long; the first `warm_up_s` of `seconds` are not counted."""

    source: str
    address: str
    port: int
    question: bytes
    connections: int
    seconds: float
    warm_up_s: float

    @classmethod
    def from_fields(cls, fields: dict[str, Any], question: bytes) -> LoadOrder:
        return cls(
            fields["source"],
            fields["address"],
            fields["port"],
            question,
            fields["connections"],
            fields["seconds"],
            fields["warm_up_s"],
        )


@dataclass(slots=True)
class Tally:
    """What came, by server, and what went wrong, by errno's name."""

    bytes: Counter[str] = field(default_factory=Counter)
    """While counting."""
    connections: Counter[str] = field(default_factory=Counter)
    """All that were answered."""
    failures: Counter[str] = field(default_factory=Counter)


class _Fetch:
    """One connection: the question out, the answer in, to its end."""

    def __init__(self, order: LoadOrder) -> None:
        family = socket.AF_INET6 if ":" in order.address else socket.AF_INET
        self.server = ""
        self.counted = 0
        """Bytes that came while counting."""
        self._unsent = order.question
        self._head = b""
        self.socket = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            bind_source(self.socket, order.source, 0)
            with suppress(BlockingIOError):
                self.socket.connect((order.address, order.port))
        except OSError:
            self.socket.close()
            raise

    def send(self) -> bool:
        """Send what can be sent; return whether the whole question is out."""
        code = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        self._unsent = self._unsent[self.socket.send(self._unsent) :]
        return not self._unsent

    def receive(self) -> int:
        """Take what came; return how much it was, 0 at the end."""
        data = self.socket.recv(RECEIVE_BYTES)
        if not self.server and len(self._head) < MAX_UNNAMED_BYTES:
            self._head += data
            self.server = _server(self._head)
        return len(data)

    def abort(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.socket.close()


def _server(answer: bytes) -> str:
    """Return the first line of an HTTP answer's body, or an empty text as long as it has not come."""
    _, found, body = answer.partition(END_OF_HEAD)
    name, ended, _ = body.partition(b"\n")
    return name.decode(errors="replace") if found and ended else ""


class Load:
    """Keeps so many fetches going until the time is over."""

    def __init__(self, order: LoadOrder) -> None:
        self._order = order
        self._selector = selectors.DefaultSelector()
        self._open: set[_Fetch] = set()
        self._resting: list[float] = []
        """When each connection that failed may be tried again."""
        self._tally = Tally()
        self._counting_from = 0.0

    def run(self) -> tuple[Tally, float]:
        """Return the tally and the seconds in which its bytes came."""
        begun = time.monotonic()
        self._counting_from = begun + self._order.warm_up_s
        end = begun + self._order.seconds
        for _ in range(self._order.connections):
            self._begin()
        while (now := time.monotonic()) < end:
            self._wake(now)
            soonest = min([end, *self._resting])
            for key, events in self._selector.select(max(0.0, soonest - now)):
                self._advance(key.data, events)
        counted_s = time.monotonic() - self._counting_from
        for fetch in list(self._open):
            self._close(fetch)
        self._selector.close()
        return self._tally, counted_s

    def _wake(self, now: float) -> None:
        due = [moment for moment in self._resting if moment <= now]
        self._resting = [moment for moment in self._resting if moment > now]
        for _ in due:
            self._begin()

    def _begin(self) -> None:
        try:
            fetch = _Fetch(self._order)
        except OSError as error:
            self._failed(error)
            return
        self._open.add(fetch)
        self._selector.register(fetch.socket, selectors.EVENT_WRITE, fetch)

    def _advance(self, fetch: _Fetch, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                if fetch.send():
                    self._selector.modify(fetch.socket, selectors.EVENT_READ, fetch)
                return
            count = fetch.receive()
        except BlockingIOError:
            return
        except OSError as error:
            self._close(fetch)
            self._failed(error)
            return
        if count:
            fetch.counted += count if time.monotonic() >= self._counting_from else 0
        else:
            self._close(fetch)
            self._begin()

    def _close(self, fetch: _Fetch) -> None:
        self._selector.unregister(fetch.socket)
        self._open.discard(fetch)
        fetch.abort()
        if fetch.server:
            self._tally.connections[fetch.server] += 1
            self._tally.bytes[fetch.server] += fetch.counted

    def _failed(self, error: OSError) -> None:
        self._tally.failures[errno.errorcode.get(error.errno or 0, "EIO")] += 1
        self._resting.append(time.monotonic() + RETRY_S)
