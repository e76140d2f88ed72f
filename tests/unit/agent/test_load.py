"""The load client against the built-in servers on the loopback interface: what it counts, and for whom."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from lvslab.agent.load import MAX_UNNAMED_BYTES, Load, LoadOrder, Tally
from lvslab.agent.servers import Listener, ServerGroup

LOOPBACK = "127.0.0.1"
SECONDS = 0.3
HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def serve(stack: ExitStack, *names: str) -> list[int]:
    """Run built-in servers of these names in a thread; return their ports."""
    selector = selectors.DefaultSelector()
    opened = []
    for name in names:
        channel = socket.create_server((LOOPBACK, 0), backlog=64)
        channel.setblocking(False)
        opened.append((Listener(name, "http", LOOPBACK, 0, 100), channel))
    ports = [channel.getsockname()[1] for _, channel in opened]
    group = ServerGroup(selector, opened)
    ended = threading.Event()

    def loop() -> None:
        while not ended.is_set():
            for key, events in selector.select(0.02):
                key.data(events)
        group.close()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    stack.callback(thread.join)
    stack.callback(ended.set)
    return ports


def answering(stack: ExitStack, answer: Callable[[socket.socket], None]) -> int:
    """Serve each connection with `answer`, then close it."""
    listener = stack.enter_context(socket.create_server((LOOPBACK, 0)))

    def loop() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                answer(connection)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    stack.callback(thread.join)
    stack.callback(listener.shutdown, socket.SHUT_RDWR)
    return int(listener.getsockname()[1])


def order(port: int, path: str, *, connections: int = 4, seconds: float = SECONDS, warm_up_s: float = 0) -> LoadOrder:
    question = f"GET {path} HTTP/1.1\r\n\r\n".encode()
    return LoadOrder(LOOPBACK, LOOPBACK, port, question, connections, seconds, warm_up_s)


def run(wanted: LoadOrder) -> tuple[Tally, float]:
    return Load(wanted).run()


def test_connections_that_last_are_not_opened_again(stack: ExitStack) -> None:
    (port,) = serve(stack, "rs1")
    tally, seconds = run(order(port, "/bytes/999999999999"))
    assert tally.connections == {"rs1": 4}
    assert tally.bytes["rs1"] > 0
    assert tally.failures == {}
    assert seconds >= SECONDS


def test_an_answer_that_has_ended_is_followed_by_another(stack: ExitStack) -> None:
    (port,) = serve(stack, "rs1")
    tally, _ = run(order(port, "/bytes/1000"))
    assert tally.connections["rs1"] > 4
    whole = tally.connections["rs1"] - 4
    assert tally.bytes["rs1"] >= 1000 * whole


def test_bytes_of_the_warm_up_are_not_counted(stack: ExitStack) -> None:
    """One answer, at once: all of it comes before the counting begins."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"rs1\n" + bytes(1000))
        with suppress(ConnectionResetError):
            while connection.recv(1 << 16):
                pass

    port = answering(stack, answer)
    tally, seconds = run(order(port, "/", connections=1, seconds=1, warm_up_s=0.99))
    assert tally.connections == {"rs1": 1}
    assert tally.bytes == {"rs1": 0}
    assert seconds < 1


def test_a_server_that_is_down_is_tried_now_and_then() -> None:
    with socket.create_server((LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
    tally, _ = run(order(port, "/", connections=2, seconds=0.35))
    assert tally.failures.keys() == {"ECONNREFUSED"}
    assert 2 <= tally.failures["ECONNREFUSED"] <= 2 * 4
    assert tally.connections == {}


def test_a_source_that_is_not_there_is_a_failure(stack: ExitStack) -> None:
    (port,) = serve(stack, "rs1")
    wanted = LoadOrder("203.0.113.77", LOOPBACK, port, b"", 1, 0.05, 0)
    assert run(wanted)[0].failures == {"EADDRNOTAVAIL": 1}


def test_an_answer_that_names_nobody_counts_for_nobody(stack: ExitStack) -> None:
    port = answering(stack, lambda connection: connection.sendall(bytes(2 * MAX_UNNAMED_BYTES)))
    tally, _ = run(order(port, "/", connections=1, seconds=0.1))
    assert tally.bytes == {}


def test_nothing_stays_open(stack: ExitStack) -> None:
    (port,) = serve(stack, "rs1")
    before = open_files()
    run(order(port, "/bytes/999999999999"))
    assert open_files() <= before + 4  # the server's own ends, until it has noticed


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
