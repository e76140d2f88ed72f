"""The relay against a line that goes deaf, slow and vanishing clients, and nonsense."""

from __future__ import annotations

import random
import select
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from lvslab.agent.wire import (
    CREDIT_PAYLOAD,
    UML_WINDOW_BYTES,
    FrameReader,
    Kind,
    Message,
    MessageReader,
    WireFrame,
    message_frames,
)
from lvslab.kernels.relay import MAX_WAITING_BYTES, Relay

DEAF_AFTER_BYTES = 3900
HELLO = WireFrame(Kind.HELLO, 0, b"{}").encode()


@dataclass
class Bench:
    """A relay between two sockets whose other ends are the test's."""

    relay: Relay
    client: socket.socket
    line: socket.socket

    def settle(self) -> None:
        """Let the relay work until it has nothing more to do."""
        while not self.relay.ended:
            poll = select.poll()
            for descriptor, events in self.relay.interest().items():
                poll.register(descriptor, events)
            ready = poll.poll(0)
            if not ready:
                return
            for descriptor, events in ready:
                self.relay.advance(descriptor, events)

    def take(self, end: socket.socket) -> bytes:
        """Return everything that arrived at one end."""
        pieces = []
        with suppress(BlockingIOError):
            while data := end.recv(1 << 20):
                pieces.append(data)
        return b"".join(pieces)


@pytest.fixture
def bench() -> Iterator[Bench]:
    sockets = [*socket.socketpair(), *socket.socketpair()]
    for end in sockets:
        end.setblocking(False)
    client, relays_client, relays_line, line = sockets
    yield Bench(Relay(relays_client, relays_line, UML_WINDOW_BYTES), client, line)
    for end in sockets:
        end.close()


class DeafGuest:
    """An agent that reads when it likes, behind a line that loses everything after too long a burst."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self._bench = bench
        self._random = random.Random(seed)
        self._waiting = b""
        self._frames = FrameReader()
        self._messages = MessageReader()
        self._unacknowledged = 0
        self.longest = 0
        self.received: list[Message] = []

    def work(self) -> None:
        self._waiting += self._bench.take(self._bench.line)
        self.longest = max(self.longest, len(self._waiting) + self._unacknowledged)
        assert len(self._waiting) <= DEAF_AFTER_BYTES, "the line is deaf"
        count = self._random.randint(0, len(self._waiting))
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        self._unacknowledged += count
        self.received += [m for frame in self._frames.feed(taken) if (m := self._messages.take(frame))]
        if self._unacknowledged >= 512:
            credit = CREDIT_PAYLOAD.pack(self._unacknowledged)
            self._bench.line.send(WireFrame(Kind.CREDIT, 0, credit).encode())
            self._unacknowledged = 0


@pytest.mark.parametrize("seed", range(5))
def test_never_more_than_the_window_is_unacknowledged(bench: Bench, seed: int) -> None:
    sent = [Message({"number": number}, (bytes(number * 700),)) for number in range(30)]
    waiting = b"".join(message_frames(number, message) for number, message in enumerate(sent))
    bench.line.send(HELLO)
    guest = DeafGuest(bench, seed)
    while len(guest.received) < len(sent):
        with suppress(BlockingIOError):
            waiting = waiting[bench.client.send(waiting) :] if waiting else b""
        bench.settle()
        guest.work()
    assert guest.received == sent
    assert guest.longest == UML_WINDOW_BYTES


def test_nothing_is_sent_before_the_hello(bench: Bench) -> None:
    request = message_frames(1, Message({"op": "x"}))
    bench.client.send(request)
    bench.settle()
    assert bench.take(bench.line) == b""
    bench.line.send(HELLO)
    bench.settle()
    assert bench.take(bench.line) == request
    assert bench.take(bench.client) == HELLO


def test_credit_beyond_the_window_is_not_believed(bench: Bench) -> None:
    bench.line.send(HELLO + WireFrame(Kind.CREDIT, 0, CREDIT_PAYLOAD.pack(1 << 30)).encode())
    bench.client.send(bytes(10_000))
    bench.settle()
    assert len(bench.take(bench.line)) == UML_WINDOW_BYTES


def test_answers_pass_in_frames_however_they_arrive(bench: Bench) -> None:
    answer = message_frames(7, Message({}, (bytes(range(256)) * 20,)))
    for byte in HELLO + answer:
        bench.line.send(bytes([byte]))
        bench.settle()
    assert bench.take(bench.client) == HELLO + answer


def test_a_client_that_does_not_read_is_waited_for_without_hoarding(bench: Bench) -> None:
    frame = WireFrame(Kind.PART, 1, bytes(1000)).encode()
    sent = 0
    with suppress(BlockingIOError):
        while sent < 100 * MAX_WAITING_BYTES:
            bench.line.sendall(frame)
            sent += len(frame)
            bench.settle()
    assert len(bench.relay.unsent()) < 2 * MAX_WAITING_BYTES
    assert not bench.relay.ended


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "with-a-deaf-kernel"])
def test_the_client_going_away_is_noticed(bench: Bench, busy: bool) -> None:
    """Also when so much waits for the kernel that nothing more is read from the client."""
    if busy:
        with suppress(BlockingIOError):
            while True:
                bench.client.send(bytes(1 << 16))
                bench.settle()
    bench.client.close()
    bench.settle()
    assert bench.relay.ended == "the client is gone"


def test_the_kernels_last_answer_is_passed_on(bench: Bench) -> None:
    bench.line.send(HELLO)
    bench.line.close()
    bench.settle()
    assert bench.relay.ended == "the kernel ended"
    assert bench.take(bench.client) + bench.relay.unsent() == HELLO


@pytest.mark.parametrize(
    "nonsense", [b"\x63\0\0\0\0\0\0", WireFrame(Kind.CREDIT, 0, b"\1").encode()], ids=["unknown kind", "short credit"]
)
def test_nonsense_from_the_agent_ends_it(bench: Bench, nonsense: bytes) -> None:
    bench.line.send(HELLO + nonsense)
    bench.settle()
    assert bench.relay.ended.startswith("what the agent sent makes no sense")
