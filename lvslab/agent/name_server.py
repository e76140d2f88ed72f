"""The authoritative server of a round-robin name: the same records each time, turned by one.

The host encodes the question and the records (RFC 1035); here they are only turned and put together. An
answer that does not fit a datagram says so (TC), and the client asks again over TCP, which does not count
as another turn.
"""

from __future__ import annotations

import selectors
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from lvslab.agent.channel_group import ChannelGroup, listen
from lvslab.agent.namespaces import Namespaces

PORT = 53
MAX_DATAGRAM_BYTES = 1232
"""DNS Flag Day 2020: what surely travels unfragmented."""
MIN_DATAGRAM_BYTES = 512
RECEIVE_BYTES = 1 << 16
HEADER = struct.Struct("!6H")
LENGTH = struct.Struct("!H")
OPT = b"\0\x00\x29"
"""An EDNS pseudo-record begins with the root name and type 41 (RFC 6891)."""
OUR_OPT = OPT + struct.pack("!HIH", MAX_DATAGRAM_BYTES, 0, 0)
AUTHORITATIVE_ANSWER = 0x8400
TRUNCATED = 0x0200
RECURSION_DESIRED = 0x0100
REFUSED = 5
KIND_BYTES = 4
"""Type and class, at a question's end."""


class RoundRobinName:
    """One name's question and its records, as bytes on the wire, and whose turn it is."""

    def __init__(self, question: bytes, records: Sequence[bytes]) -> None:
        self._question = question
        self._records = list(records)
        self._turn = 0

    def answer(self, query: bytes, limit_bytes: int | None) -> bytes:
        """Return the answer to a query; without a limit (TCP) it is always whole."""
        number, flags, *_ = HEADER.unpack_from(query)
        flags = AUTHORITATIVE_ANSWER | (flags & RECURSION_DESIRED)
        end = HEADER.size + len(self._question)
        asked, ours = query[HEADER.size : end].lower(), self._question.lower()
        if asked[:-KIND_BYTES] != ours[:-KIND_BYTES]:
            return HEADER.pack(number, flags | REFUSED, 0, 0, 0, 0)
        edns = OUR_OPT if query[end : end + len(OPT)] == OPT else b""
        if asked != ours:
            # The name exists without such records (RFC 2308, 2.2): a client that asks for IPv6 as well goes on.
            return HEADER.pack(number, flags, 1, 0, 0, 1 if edns else 0) + query[HEADER.size : end] + edns
        extra = 1 if edns else 0
        size = HEADER.size + len(self._question) + sum(map(len, self._records)) + len(edns)
        if limit_bytes is not None and size > limit_bytes:
            return HEADER.pack(number, flags | TRUNCATED, 1, 0, 0, extra) + query[HEADER.size : end] + edns
        turned = self._records[self._turn :] + self._records[: self._turn]
        self._turn = (self._turn + 1) % len(self._records)
        head = HEADER.pack(number, flags, 1, len(turned), 0, extra)
        return b"".join((head, query[HEADER.size : end], *turned, edns))

    def datagram_limit(self, query: bytes) -> int:
        """Return the largest datagram the client takes, by its EDNS record."""
        end = HEADER.size + len(self._question)
        if query[end : end + len(OPT)] != OPT:
            return MIN_DATAGRAM_BYTES
        asked: int = LENGTH.unpack_from(query, end + len(OPT))[0]
        return max(MIN_DATAGRAM_BYTES, min(MAX_DATAGRAM_BYTES, asked))


class NameServer(ChannelGroup):
    """Serves one name in one node, over UDP and TCP."""

    def __init__(
        self, selector: selectors.BaseSelector, namespaces: Namespaces, node: str, address: str, name: RoundRobinName
    ) -> None:
        super().__init__(selector)
        self._name = name
        with namespaces.inside(node):
            datagrams = listen(address, PORT, socket.SOCK_DGRAM)
            try:
                connections = listen(address, PORT, socket.SOCK_STREAM)
            except OSError:
                datagrams.close()
                raise
        self.watch(datagrams, selectors.EVENT_READ, partial(self._answer_datagrams, datagrams))
        self.watch(connections, selectors.EVENT_READ, partial(self._accept, connections))

    def _answer_datagrams(self, channel: socket.socket, _events: int) -> None:
        with suppress(BlockingIOError):
            while True:
                query, client = channel.recvfrom(RECEIVE_BYTES)
                # What is no query, or cannot be answered, gets no answer.
                with suppress(OSError, struct.error):
                    channel.sendto(self._name.answer(query, self._name.datagram_limit(query)), client)

    def _accept(self, channel: socket.socket, _events: int) -> None:
        with suppress(OSError):
            while True:
                connection, _ = channel.accept()
                connection.setblocking(False)
                TcpQuestions(self, self._name, connection)


class TcpQuestions:
    """One TCP connection: queries, each after its length, answered in turn (RFC 7766)."""

    def __init__(self, group: ChannelGroup, name: RoundRobinName, connection: socket.socket) -> None:
        self._group = group
        self._name = name
        self._connection = connection
        self._received = bytearray()
        self._waiting = bytearray()
        group.watch(connection, selectors.EVENT_READ, self._advance)

    def _advance(self, events: int) -> None:
        try:
            if events & selectors.EVENT_READ and not self._receive():
                self._group.forget(self._connection)
                return
            self._send()
        except OSError:
            self._group.forget(self._connection)

    def _receive(self) -> bool:
        """Take what came and answer whole queries; return False at the end of the connection."""
        data = self._connection.recv(RECEIVE_BYTES)
        self._received += data
        while len(self._received) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(self._received)[0]
            if len(self._received) < end:
                break
            query = bytes(self._received[LENGTH.size : end])
            del self._received[:end]
            if len(query) < HEADER.size:
                return False
            answer = self._name.answer(query, None)
            self._waiting += LENGTH.pack(len(answer)) + answer
        return bool(data)

    def _send(self) -> None:
        with suppress(BlockingIOError):
            while self._waiting:
                del self._waiting[: self._connection.send(self._waiting)]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._waiting else 0)
        self._group.watch(self._connection, events, self._advance)
