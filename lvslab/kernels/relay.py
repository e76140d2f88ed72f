"""Passes frames between a lab's client and the line to its agent, and keeps the window the line needs."""

from __future__ import annotations

import select
import socket
import struct

from lvslab.agent.wire import CREDIT_PAYLOAD, FrameReader, Kind, WireError

READ_BYTES = 1 << 16
MAX_WAITING_BYTES = 1 << 20
"""What one side sends is read no further while so much waits for the other."""
KERNEL_ENDED = "the kernel ended"
CLIENT_GONE = "the client is gone"
HANG_UP = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Relay:
    """Relays until one side is gone; `ended` then says which, in words, and is empty before.

    Nothing goes to the kernel before the agent's hello: bytes sent before the line is open are lost.
    Afterwards at most `window_bytes` are under way that the agent has not acknowledged.
    """

    def __init__(self, client: socket.socket, line: socket.socket, window_bytes: int) -> None:
        self._client = client
        self._line = line
        self._window_bytes = window_bytes
        self._credit = 0
        self._from_kernel = FrameReader()
        self._to_kernel = bytearray()
        self._to_client = bytearray()
        self.ended = ""
        for channel in (client, line):
            channel.setblocking(False)

    def interest(self) -> dict[int, int]:
        """Return poll(2)'s events by descriptor. That a side hung up is told even where there are none."""
        client = select.POLLIN if len(self._to_kernel) < MAX_WAITING_BYTES else 0
        line = select.POLLIN if len(self._to_client) < MAX_WAITING_BYTES else 0
        client |= select.POLLOUT if self._to_client else 0
        line |= select.POLLOUT if self._to_kernel and self._credit > 0 else 0
        return {self._client.fileno(): client, self._line.fileno(): line}

    def advance(self, descriptor: int, events: int) -> None:
        """Do what `events` allow."""
        if descriptor == self._client.fileno():
            if events & HANG_UP:
                self._end(CLIENT_GONE)
            elif events & select.POLLIN:
                self._to_kernel += self._receive(self._client, CLIENT_GONE)
        elif events & select.POLLIN:
            self._take(self._receive(self._line, KERNEL_ENDED))
        elif events & HANG_UP:
            self._end(KERNEL_ENDED)
        self._send()

    def unsent(self) -> bytes:
        """Return what the client has not got yet."""
        return bytes(self._to_client)

    def _end(self, reason: str) -> None:
        self.ended = self.ended or reason

    def _receive(self, channel: socket.socket, otherwise: str) -> bytes:
        try:
            data = channel.recv(READ_BYTES)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._end(otherwise)
        return data

    def _take(self, data: bytes) -> None:
        try:
            for frame in self._from_kernel.feed(data):
                if frame.kind is Kind.CREDIT:
                    self._credit += CREDIT_PAYLOAD.unpack(frame.payload)[0]
                    continue
                if frame.kind is Kind.HELLO:
                    self._credit = self._window_bytes
                self._to_client += frame.encode()
        except (WireError, struct.error) as error:
            self._end(f"what the agent sent makes no sense ({error})")
        self._credit = min(self._credit, self._window_bytes)

    def _send(self) -> None:
        try:
            while self._to_kernel and self._credit > 0:
                sent = self._line.send(self._to_kernel[: self._credit])
                del self._to_kernel[:sent]
                self._credit -= sent
        except BlockingIOError:
            pass
        except OSError:
            self._end(KERNEL_ENDED)
        try:
            if self._to_client:
                del self._to_client[: self._client.send(self._to_client)]
        except BlockingIOError:
            pass
        except OSError:
            self._end(CLIENT_GONE)
