"""The built-in servers on the loopback interface, run by their event loop in a thread."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from lvslab.agent.namespaces import OWN, Namespaces
from lvslab.agent.servers import MAX_HEAD_BYTES, Listener, ServerGroup, http_answer, open_listeners

LOOPBACK = "127.0.0.1"
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
ANSWER_BYTES = 100
TIMEOUT_S = 20.0
NAME = OWN.encode() + b"\n"


class Servers:
    """A group of servers with a loop of its own."""

    def __init__(self, *kinds: str, answer_bytes: int = ANSWER_BYTES) -> None:
        self.selector = selectors.DefaultSelector()
        listeners = [Listener(OWN, kind, LOOPBACK, 0, answer_bytes) for kind in kinds]
        opened = open_listeners(Namespaces(), listeners)
        self.ports = [channel.getsockname()[1] for _, channel in opened]
        self.group = ServerGroup(self.selector, opened)
        self._stop, stopped = socket.socketpair()
        self.selector.register(stopped, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while True:
            for key, events in self.selector.select():
                if key.data is None:
                    return
                key.data(events)

    def close(self) -> None:
        self._stop.send(b".")
        self._thread.join()
        self.group.close()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(stack: ExitStack, kind: str, answer_bytes: int = ANSWER_BYTES) -> int:
    return int(stack.enter_context(closing(Servers(kind, answer_bytes=answer_bytes))).ports[0])


def connect(port: int) -> socket.socket:
    return socket.create_connection((LOOPBACK, port), timeout=TIMEOUT_S)


def read_all(connection: socket.socket) -> bytes:
    pieces = []
    while data := connection.recv(1 << 16):
        pieces.append(data)
    return b"".join(pieces)


def ask(port: int, *pieces: bytes) -> bytes:
    with connect(port) as connection:
        for piece in pieces:
            connection.sendall(piece)
        return read_all(connection)


def http(answer_bytes: int = ANSWER_BYTES, question: bytes = REQUEST) -> bytes:
    beginning, padding_bytes = http_answer(Listener(OWN, "http", LOOPBACK, 0, answer_bytes), question)
    return beginning + b"." * padding_bytes


def test_an_answer_says_its_length_and_the_server() -> None:
    head, body = http(50).split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Content-Length: 50" in head
    assert (len(body), body.split(b"\n")[0]) == (50, OWN.encode())


@pytest.mark.parametrize("size", [0, 1, 100, (1 << 16) - 5, 1 << 16, (1 << 16) + 1, 3 << 20])
def test_a_client_may_ask_for_a_body_of_any_size(stack: ExitStack, size: int) -> None:
    body = ask(start(stack, "http"), b"GET /bytes/%d HTTP/1.1\r\n\r\n" % size).partition(b"\r\n\r\n")[2]
    name = OWN.encode() + b"\n"
    assert body == name.ljust(size, b".")


@pytest.mark.parametrize("path", [b"/", b"/bytes/", b"/bytes/x", b"/bytes/-1", b"/bytes/1/2", b"/bytes/" + b"9" * 99])
def test_any_other_path_gets_the_usual_answer(path: bytes) -> None:
    assert http(50, b"GET %b HTTP/1.1\r\n\r\n" % path) == http(50)


def test_an_answer_without_end_stops_when_the_client_does(stack: ExitStack) -> None:
    port = start(stack, "http")
    with connect(port) as connection:
        connection.sendall(b"GET /bytes/999999999999999 HTTP/1.1\r\n\r\n")
        assert connection.recv(1 << 16)
    assert ask(port, REQUEST) == http()


@pytest.mark.parametrize("pieces", [[REQUEST], [REQUEST[:5], REQUEST[5:]], [bytes([byte]) for byte in REQUEST]])
def test_http_answers_once_the_head_is_complete(stack: ExitStack, pieces: list[bytes]) -> None:
    assert ask(start(stack, "http"), *pieces) == http()


def test_http_with_a_large_body_still_gets_its_whole_answer(stack: ExitStack) -> None:
    """Closing with bytes unread would reset the connection, and the answer might be lost."""
    port = start(stack, "http", 1 << 20)
    for _ in range(20):
        with connect(port) as connection:
            connection.sendall(REQUEST + bytes(200_000))
            assert read_all(connection) == http(1 << 20)


def test_a_head_without_end_is_turned_away(stack: ExitStack) -> None:
    port = start(stack, "http")
    with connect(port) as connection, pytest.raises(ConnectionError):
        for _ in range(1000):
            connection.sendall(bytes(MAX_HEAD_BYTES))
    assert ask(port, REQUEST) == http()


def test_a_slow_reader_gets_everything_and_holds_up_nobody(stack: ExitStack) -> None:
    size = 8 << 20
    port = start(stack, "http", size)
    with connect(port) as slow:
        slow.sendall(REQUEST)
        assert len(ask(port, REQUEST)) == len(http(size))
        assert len(read_all(slow)) == len(http(size))


def test_half_open_and_silent_clients_hold_up_nobody(stack: ExitStack) -> None:
    port = start(stack, "http")
    silent = [stack.enter_context(connect(port)) for _ in range(50)]
    silent[0].shutdown(socket.SHUT_WR)
    assert read_all(silent[0]) == b""
    assert ask(port, REQUEST) == http()


def test_a_client_that_resets_harms_nobody(stack: ExitStack) -> None:
    port = start(stack, "http", 1 << 20)
    for _ in range(20):
        with connect(port) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.sendall(REQUEST)
    assert len(ask(port, REQUEST)) == len(http(1 << 20))


def test_many_connections_at_once(stack: ExitStack) -> None:
    port = start(stack, "http")
    connections = [stack.enter_context(connect(port)) for _ in range(300)]
    for connection in connections:
        connection.sendall(REQUEST)
    assert {read_all(connection) for connection in connections} == {http()}


def test_tcp_echo_names_the_server_first(stack: ExitStack) -> None:
    assert ask(start(stack, "tcp-echo"), b"hello") == NAME + b"hello"


def test_udp_echo_answers_from_the_address_that_was_asked(stack: ExitStack) -> None:
    port = int(stack.enter_context(closing(Servers("udp-echo"))).ports[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(TIMEOUT_S)
        for number in range(50):
            client.sendto(b"%d" % number, (LOOPBACK, port))
            assert client.recvfrom(4096) == (NAME + b"%d" % number, (LOOPBACK, port))


def test_if_one_cannot_listen_none_does() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with closing(socket.socket()) as probe:
            probe.bind((LOOPBACK, 0))
            free = probe.getsockname()[1]
        listeners = [Listener(OWN, "http", LOOPBACK, number, 10) for number in (free, port)]
        with pytest.raises(OSError, match="in use"):
            open_listeners(Namespaces(), listeners)
        with pytest.raises(ConnectionRefusedError):
            connect(free)


def test_closing_the_group_ends_listeners_and_connections() -> None:
    servers = Servers("http")
    waiting = connect(servers.ports[0])
    ask(servers.ports[0], REQUEST)
    servers.close()
    with waiting:
        assert waiting.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        connect(servers.ports[0])
