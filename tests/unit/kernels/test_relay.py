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
    CHANNELS_PER_CLIENT,
    CREDIT_PAYLOAD,
    HEADER,
    UML_WINDOW_BYTES,
    FrameReader,
    Kind,
    Message,
    MessageReader,
    WireFrame,
    message_frames,
)
from lvslab.kernels import relay
from lvslab.kernels.relay import Relay

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
    bench.client.send(message_frames(1, Message({}, (bytes(10_000),))))
    bench.settle()
    assert len(bench.take(bench.line)) == UML_WINDOW_BYTES


def test_answers_pass_in_frames_however_they_arrive(bench: Bench) -> None:
    answer = message_frames(7, Message({}, (bytes(range(256)) * 20,)))
    for byte in HELLO + answer:
        bench.line.send(bytes([byte]))
        bench.settle()
    assert bench.take(bench.client) == HELLO + answer


def test_a_client_that_does_not_read_is_let_go_in_the_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "MAX_WAITING_BYTES", 1 << 20)
    frame = WireFrame(Kind.PART, 1, bytes(1000)).encode()
    for _ in range(4000):
        bench.line.sendall(frame)
        bench.settle()
        if bench.relay.ended:
            break
    assert bench.relay.ended == "the client is gone"


def knock(bench: Bench) -> socket.socket:
    """Let another client in; return its end."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    bench.relay.add_client(theirs)
    return ours


def test_each_client_gets_its_own_answers_on_its_own_channels(bench: Bench) -> None:
    bench.line.send(HELLO)
    bench.settle()
    second = knock(bench)
    bench.client.send(message_frames(5, Message({"from": "first"})))
    second.send(message_frames(5, Message({"from": "second"})))
    bench.settle()
    asked = list(FrameReader().feed(bench.take(bench.line)))
    assert len({frame.channel for frame in asked}) == 2
    for frame in asked:
        bench.line.send(frame.encode())
    bench.settle()
    assert bench.take(bench.client) == HELLO + message_frames(5, Message({"from": "first"}))
    assert bench.take(second) == HELLO + message_frames(5, Message({"from": "second"}))


def test_a_large_request_does_not_hold_up_another_clients_small_one(bench: Bench) -> None:
    bench.line.send(HELLO)
    second = knock(bench)
    bench.client.send(message_frames(1, Message({}, (bytes(100_000),))))
    bench.settle()
    second.send(message_frames(1, Message({"key": "x"})))
    bench.settle()
    reader, before_it = FrameReader(), 0
    for _ in range(200):
        data = bench.take(bench.line)
        for frame in reader.feed(data):
            if frame.kind is Kind.LAST:
                assert before_it <= 2 * UML_WINDOW_BYTES // 1000
                return
            before_it += 1
        bench.line.send(WireFrame(Kind.CREDIT, 0, CREDIT_PAYLOAD.pack(len(data))).encode())
        bench.settle()
    pytest.fail("the small request never came")


def test_a_slow_reader_does_not_stall_another_client(bench: Bench) -> None:
    bench.line.send(HELLO)
    bench.settle()
    second = knock(bench)
    bench.settle()
    bench.take(second)
    for _ in range(2000):
        bench.line.sendall(WireFrame(Kind.STREAM, 1, bytes(1000)).encode())
        bench.settle()
    for_second = WireFrame(Kind.STREAM, CHANNELS_PER_CLIENT + 1, b"\1now")
    bench.line.sendall(for_second.encode())
    bench.settle()
    assert bench.take(second) == WireFrame(Kind.STREAM, 1, b"\1now").encode()


def test_the_agent_hears_of_a_client_that_left_and_the_lab_goes_on(bench: Bench) -> None:
    bench.line.send(HELLO)
    second = knock(bench)
    bench.settle()
    second.close()
    bench.settle()
    gone = list(FrameReader().feed(bench.take(bench.line)))
    assert [(frame.kind, frame.channel) for frame in gone] == [(Kind.HANG_UP, CHANNELS_PER_CLIENT)]
    assert not bench.relay.ended


def test_a_lab_ends_with_its_maker_whoever_else_is_there(bench: Bench) -> None:
    second = knock(bench)
    bench.settle()
    bench.client.close()
    bench.settle()
    second.close()
    assert bench.relay.ended == "the client is gone"


def test_a_lab_that_stays_outlives_its_clients_and_ends_when_told(bench: Bench) -> None:
    bench.line.send(HELLO)
    bench.client.send(WireFrame(Kind.STAY, 0, b"").encode())
    bench.settle()
    bench.client.close()
    bench.settle()
    assert (bench.relay.stays, bench.relay.ended) == (True, "")
    second = knock(bench)
    second.send(WireFrame(Kind.STOP, 0, b"").encode())
    bench.settle()
    assert bench.relay.ended == "the lab was stopped"


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "with-a-deaf-kernel"])
def test_the_client_going_away_is_noticed(bench: Bench, busy: bool) -> None:
    """Also when so much waits for the kernel that nothing more is read from the client."""
    if busy:
        with suppress(BlockingIOError):
            while True:
                bench.client.send(WireFrame(Kind.PART, 1, bytes(1000)).encode())
                bench.settle()
    bench.client.close()
    bench.settle()
    assert bench.relay.ended == "the client is gone"


def test_the_kernels_last_answer_is_passed_on(bench: Bench) -> None:
    bench.line.send(HELLO)
    bench.line.close()
    bench.settle()
    assert bench.relay.ended == "the kernel ended"
    bench.relay.farewell(b"bye", 1.0)
    assert bench.take(bench.client) == HELLO + b"bye"


@pytest.mark.parametrize(
    "nonsense",
    [b"\x63" + bytes(HEADER.size - 1), WireFrame(Kind.CREDIT, 0, b"\1").encode()],
    ids=["unknown kind", "short credit"],
)
def test_nonsense_from_the_agent_ends_it(bench: Bench, nonsense: bytes) -> None:
    bench.line.send(HELLO + nonsense)
    bench.settle()
    assert bench.relay.ended.startswith("what the agent sent makes no sense")
