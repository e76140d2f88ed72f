"""The built-in servers of all nodes: on the agent's own event loop, one listening socket per node.

A hundred servers cost no process at all. Each says which server it is: the first line of every answer is the
node's name. `http` speaks as much HTTP/1.1 (RFC 9112) as a test client needs; `udp-echo`, `tcp-echo` and `sctp-echo`
send back what came, the node's name first. SCTP is spoken through sockets of the one-to-one style, which are used like
TCP's (RFC 6458 section 4).
"""

from __future__ import annotations

import re
import selectors
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from lvslab.agent.channel_group import ChannelGroup, listen
from lvslab.agent.namespaces import Namespaces

RECEIVE_BYTES = 1 << 16
ANCILLARY_BYTES = 256
IP_PKTINFO = 8
IPV6_RECVPKTINFO = 49
IPV6_PKTINFO = 50
END_OF_HEAD = b"\r\n\r\n"
MAX_HEAD_BYTES = 1 << 16
"""A client that sends more before the end of its request's head is turned away."""
PADDING = memoryview(b"." * RECEIVE_BYTES)
_ASKED = re.compile(rb"[A-Z]+ /bytes/([0-9]{1,15}) ")


@dataclass(frozen=True, slots=True)
class Listener:
    """Where one server listens, who it says it is, and the size of its answers' bodies in bytes."""

    node: str
    kind: str
    address: str
    port: int
    answer_bytes: int

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Listener:
        return cls(fields["node"], fields["kind"], fields["address"], fields["port"], fields["answer_bytes"])


def open_listeners(namespaces: Namespaces, listeners: Iterable[Listener]) -> list[tuple[Listener, socket.socket]]:
    """Open every listening socket in its node; on failure none stays open."""
    opened: list[tuple[Listener, socket.socket]] = []
    try:
        for listener in listeners:
            with namespaces.inside(listener.node):
                opened.append((listener, open_listener(listener)))
    except OSError:
        for _, channel in opened:
            channel.close()
        raise
    return opened


def open_listener(listener: Listener) -> socket.socket:
    """Open a server's socket in the present namespace."""
    if listener.kind != "udp-echo":
        protocol = socket.IPPROTO_SCTP if listener.kind == "sctp-echo" else 0
        return listen(listener.address, listener.port, socket.SOCK_STREAM, protocol)
    channel = listen(listener.address, listener.port, socket.SOCK_DGRAM)
    _ask_for_destination(channel)
    return channel


class ServerGroup(ChannelGroup):
    """Servers started together."""

    def __init__(self, selector: selectors.BaseSelector, opened: list[tuple[Listener, socket.socket]]) -> None:
        super().__init__(selector)
        for listener, channel in opened:
            serve = self._echo_datagrams if listener.kind == "udp-echo" else self._accept
            self.watch(channel, selectors.EVENT_READ, partial(serve, listener, channel))

    def _accept(self, listener: Listener, channel: socket.socket, _events: int) -> None:
        with suppress(OSError):
            while True:
                connection, _ = channel.accept()
                connection.setblocking(False)
                Answer(self, listener, connection)

    def _echo_datagrams(self, listener: Listener, channel: socket.socket, _events: int) -> None:
        """Answer from the address that was asked (ip(7), IP_PKTINFO): a reply must carry the VIP."""
        with suppress(OSError):
            while True:
                data, ancillary, _, client = channel.recvmsg(RECEIVE_BYTES, ANCILLARY_BYTES)
                source = [_as_source(level, kind, value) for level, kind, value in ancillary]
                with suppress(OSError):
                    channel.sendmsg([listener.node.encode() + b"\n" + data], source, 0, client)


class Answer:
    """One accepted connection: read the question, send the answer, close.

    It closes its own direction first and then reads on to the client's end, so that nothing of the answer is lost
    to a reset because of bytes that were not read (RFC 9112, 9.6).
    """

    def __init__(self, group: ServerGroup, listener: Listener, connection: socket.socket) -> None:
        self._group = group
        self._listener = listener
        self._connection = connection
        self._question = b""
        self._answer = memoryview(b"")
        self._padding_bytes = 0
        group.watch(connection, selectors.EVENT_READ, self._read)

    def _read(self, _events: int) -> None:
        try:
            data = self._connection.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            self._close()
            return
        self._question += data
        if self._listener.kind == "http":
            if END_OF_HEAD in self._question:
                self._begin(*http_answer(self._listener, self._question))
            elif not data or len(self._question) > MAX_HEAD_BYTES:
                self._close()
        elif data:
            self._begin(self._listener.node.encode() + b"\n" + self._question)
        else:
            self._close()

    def _begin(self, answer: bytes, padding_bytes: int = 0) -> None:
        # In one piece with its beginning: two small segments would wait for each other (Nagle, RFC 9293, 3.7.4).
        self._answer = memoryview(answer + PADDING[:padding_bytes])
        self._padding_bytes = max(0, padding_bytes - len(PADDING))
        self._write()

    def _write(self, _events: int = selectors.EVENT_WRITE) -> None:
        try:
            sent = self._connection.send(self._answer)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._close()
            return
        self._answer = self._answer[sent:]
        if not self._answer and self._padding_bytes:
            self._answer = PADDING[: self._padding_bytes]
            self._padding_bytes -= len(self._answer)
        if self._answer:
            self._group.watch(self._connection, selectors.EVENT_WRITE, self._write)
            return
        if self._listener.kind == "sctp-echo":
            # What was sent still goes out first, and SCTP has no half-closed state (RFC 9260 section 9.2).
            self._close()
            return
        try:
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            self._close()
            return
        self._group.watch(self._connection, selectors.EVENT_READ, self._wait_for_end)

    def _wait_for_end(self, _events: int) -> None:
        try:
            data = self._connection.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close()

    def _close(self) -> None:
        self._group.forget(self._connection)


def _ask_for_destination(channel: socket.socket) -> None:
    """Have the kernel tell the address each datagram was sent to."""
    if channel.family == socket.AF_INET6:
        channel.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)
    else:
        channel.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)


def _as_source(level: int, kind: int, value: bytes) -> tuple[int, int, bytes]:
    """Turn "it was sent to" into "send from", by whatever interface the route says."""
    if (level, kind) == (socket.IPPROTO_IPV6, IPV6_PKTINFO):
        return level, kind, value[:16] + bytes(4)
    address = value[8:12]
    return level, kind, bytes(4) + address + address


def http_answer(listener: Listener, question: bytes) -> tuple[bytes, int]:
    """Return the answer up to its padding, and how many bytes of that follow.

    `GET /bytes/N` asks for a body of N bytes; the server's name may make it longer.
    """
    asked = _ASKED.match(question)
    name = listener.node.encode() + b"\n"
    padding_bytes = max(0, (int(asked[1]) if asked else listener.answer_bytes) - len(name))
    length = len(name) + padding_bytes
    head = f"HTTP/1.1 200 OK\r\nServer: lvslab\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    return head.encode() + name, padding_bytes
