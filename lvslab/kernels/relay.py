"""Passes frames between a lab's clients and the line to its agent, and keeps the window the line needs.

Clients do not know of each other: the broker numbers them, and the upper bits of a channel's number on the line
say whose it is. Their frames take turns on the line, so that a large request of one does not hold up the keystrokes
of another; what the agent sends waits in a queue of each client's own, so that a slow reader holds up nobody else.
"""

from __future__ import annotations

import select
import socket
import struct
from collections import deque

from lvslab.agent.wire import (
    CHANNELS_PER_CLIENT,
    CLIENT_SHIFT,
    CREDIT_PAYLOAD,
    Flow,
    FrameReader,
    Kind,
    WireError,
    WireFrame,
)
from lvslab.kernels.calendar import Calendar

READ_BYTES = 1 << 16
MAX_WAITING_FRAMES = 1024
"""A client is read no further while so many of its frames wait for the line."""
MAX_WAITING_BYTES = 1 << 26
"""A client that leaves more than this unread is let go."""
MAKER = 0
"""The number of the client that the lab was started by."""
KERNEL_ENDED = "the kernel ended"
CLIENT_GONE = "the client is gone"
TOLD_TO_STOP = "the lab was stopped"
HANG_UP = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Client:
    """One client's socket, and what waits in either direction."""

    def __init__(self, number: int, channel: socket.socket) -> None:
        self.number = number
        self.channel = channel
        self.frames = FrameReader()
        self.to_kernel: deque[bytes] = deque()
        self.unfinished: list[bytes] = []
        """The beginning of a message, where time is virtual: there the kernel gets it when all of it is here."""
        self.to_client = bytearray()
        channel.setblocking(False)

    def interest(self) -> int:
        reading = select.POLLIN if len(self.to_kernel) < MAX_WAITING_FRAMES else 0
        return reading | (select.POLLOUT if self.to_client else 0)

    def send(self) -> bool:
        """Send what can be sent; return False if the client is gone."""
        try:
            while self.to_client:
                del self.to_client[: self.channel.send(self.to_client)]
        except BlockingIOError:
            return len(self.to_client) <= MAX_WAITING_BYTES
        except OSError:
            return False
        return True


class Relay:
    """Relays until the kernel is gone, or the client it lives for; `ended` then says why, empty before.

    Nothing goes to the kernel before the agent's hello: bytes sent before the line is open are lost. Afterwards at
    most `window_bytes` are under way that the agent has not acknowledged.
    """

    def __init__(
        self, client: socket.socket, line: socket.socket, window_bytes: int, calendar: Calendar | None = None
    ) -> None:
        """`calendar`: the kernel's time is virtual, and what it does shall not depend on when we send."""
        self._line = line
        self._calendar = calendar
        self._window_bytes = window_bytes
        self._credit = 0
        self._from_kernel = FrameReader()
        self._sending = b""
        """The rest of a frame whose beginning is on the line already."""
        self._hello = b""
        self._own_frames: deque[bytes] = deque()
        """What the broker itself has to say to the agent."""
        self._clients: dict[int, Client] = {}
        self._turn = 0
        self._next_number = MAKER
        self.stays = False
        self.ended = ""
        self.flow = Flow.FREE
        """How the agent wants virtual time to flow."""
        line.setblocking(False)
        self.add_client(client)

    def add_client(self, channel: socket.socket) -> None:
        """Let another client in; it is told the agent's hello at once if that has come."""
        client = Client(self._next_number, channel)
        self._next_number += 1
        client.to_client += self._hello
        self._clients[channel.fileno()] = client

    def interest(self) -> dict[int, int]:
        """Return poll(2)'s events by descriptor. That a side hung up is told even where there are none."""
        waiting = bool(self._sending or self._own_frames) or any(client.to_kernel for client in self._clients.values())
        line = select.POLLIN | (select.POLLOUT if waiting and self._credit > 0 and self._may_send() else 0)
        return {descriptor: client.interest() for descriptor, client in self._clients.items()} | {
            self._line.fileno(): line
        }

    def advance(self, descriptor: int, events: int) -> None:
        """Do what `events` allow."""
        client = self._clients.get(descriptor)
        if client is not None:
            if events & select.POLLIN:
                self._receive_from(client)
            elif events & HANG_UP:
                self._lose(client)
        elif descriptor == self._line.fileno():
            if events & select.POLLIN:
                self._receive_from_line()
            elif events & HANG_UP:
                self._end(KERNEL_ENDED)
        self._send()

    @property
    def is_up(self) -> bool:
        """Whether the agent has said hello."""
        return bool(self._hello)

    @property
    def under_way(self) -> bool:
        """Whether the kernel has been sent something that the agent has not acknowledged."""
        return self.is_up and self._credit < self._window_bytes

    def exchange_with_kernel(self) -> None:
        """Take what the kernel has said, and send what it may be sent."""
        self._receive_from_line()
        self._send()

    def farewell(self, frame: bytes, timeout_s: float) -> None:
        """Send every client what it has not got yet, and a last frame."""
        for client in self._clients.values():
            try:
                client.channel.settimeout(timeout_s)
                client.channel.sendall(bytes(client.to_client) + frame)
            except OSError:
                continue

    def _end(self, reason: str) -> None:
        self.ended = self.ended or reason

    def _receive_from(self, client: Client) -> None:
        data = _received(client.channel)
        if data is None:
            self._lose(client)
            return
        try:
            for frame in client.frames.feed(data):
                self._take_from(client, frame)
        except WireError:
            self._lose(client)

    def _take_from(self, client: Client, frame: WireFrame) -> None:
        if frame.kind is Kind.STAY:
            self.stays = True
        elif frame.kind is Kind.STOP:
            self._end(TOLD_TO_STOP)
        else:
            channel = client.number << CLIENT_SHIFT | frame.channel % CHANNELS_PER_CLIENT
            client.unfinished.append(WireFrame(frame.kind, channel, frame.payload).encode())
            if frame.kind is not Kind.PART or self._calendar is None:
                client.to_kernel.extend(client.unfinished)
                client.unfinished.clear()

    def _lose(self, client: Client) -> None:
        """Forget a client; the agent ends its sessions. Without its maker, a lab that is not to stay ends."""
        self._clients = {fd: other for fd, other in self._clients.items() if other is not client}
        client.channel.close()
        if client.number == MAKER and not self.stays:
            self._end(CLIENT_GONE)
            return
        self._own_frames.append(WireFrame(Kind.HANG_UP, client.number << CLIENT_SHIFT, b"").encode())

    def _receive_from_line(self) -> None:
        data = _received(self._line)
        if data is None:
            self._end(KERNEL_ENDED)
            return
        try:
            for frame in self._from_kernel.feed(data):
                self._take_from_line(frame)
        except (WireError, struct.error, ValueError, IndexError) as error:
            self._end(f"what the agent sent makes no sense ({error})")
        self._credit = min(self._credit, self._window_bytes)

    def _take_from_line(self, frame: WireFrame) -> None:
        if frame.kind is Kind.CREDIT:
            self._credit += CREDIT_PAYLOAD.unpack(frame.payload)[0]
        elif frame.kind is Kind.FLOW:
            self.flow = Flow(frame.payload[0])
        elif frame.kind is Kind.HELLO:
            self._credit = self._window_bytes
            self._hello = frame.encode()
            for client in self._clients.values():
                client.to_client += self._hello
        else:
            number, channel = frame.channel >> CLIENT_SHIFT, frame.channel % CHANNELS_PER_CLIENT
            for client in self._clients.values():
                if client.number == number:
                    client.to_client += WireFrame(frame.kind, channel, frame.payload).encode()

    def _send(self) -> None:
        try:
            while self._credit > 0 and self._may_send() and (self._sending or self._next_frame()):
                sent = self._line.send(self._sending[: self._credit])
                self._sending = self._sending[sent:]
                self._credit -= sent
        except BlockingIOError:
            pass
        except OSError:
            self._end(KERNEL_ENDED)
        for client in list(self._clients.values()):
            if not client.send():
                self._lose(client)

    def _may_send(self) -> bool:
        """While it computes, the kernel would not get it at the same moment again."""
        return self._calendar is None or self._calendar.waiting

    def _next_frame(self) -> bool:
        """Take the next frame for the line, from each client in turn; return False if there is none."""
        if self._own_frames:
            self._sending = self._own_frames.popleft()
            return True
        waiting = [client for client in self._clients.values() if client.to_kernel]
        if not waiting:
            return False
        later = [client for client in waiting if client.number > self._turn]
        client = min(later or waiting, key=lambda one: one.number)
        self._turn = client.number
        self._sending = client.to_kernel.popleft()
        return True


def _received(channel: socket.socket) -> bytes | None:
    """Return what has come, which may be nothing yet; None at the end."""
    try:
        return channel.recv(READ_BYTES) or None
    except BlockingIOError:
        return b""
    except OSError:
        return None
