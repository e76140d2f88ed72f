"""Test clients against real servers on the loopback interface: outcomes, order, and what does not answer."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import pytest

from lvslab.agent.calls import Call, Outcome
from lvslab.agent.clients import Series, Worker

LOOPBACK = "127.0.0.1"
TIMEOUT_S = 1.0
QUESTION = b"GET / HTTP/1.0\r\n\r\n"

Serve = Callable[[socket.socket], None]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def listen(stack: ExitStack, serve: Serve | None = None, backlog: int = 64) -> int:
    """Listen on a free port; `serve` handles one connection after another in a thread (None: nobody accepts)."""
    listener = stack.enter_context(socket.create_server((LOOPBACK, 0), backlog=backlog))
    if serve is not None:
        thread = threading.Thread(target=_accept, args=(listener, serve), daemon=True)
        thread.start()
        stack.callback(thread.join)
        stack.callback(listener.shutdown, socket.SHUT_RDWR)
    return int(listener.getsockname()[1])


def _accept(listener: socket.socket, serve: Serve) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                serve(connection)


def answer_and_close(connection: socket.socket) -> None:
    connection.sendall(b"got " + connection.recv(4096))


def closed_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        return int(listener.getsockname()[1])


def stream(port: int, *, source_port: int = 0, question: bytes = QUESTION) -> Call:
    return Call("stream", LOOPBACK, source_port, LOOPBACK, port, question)


def run(*calls: Call, timeout_s: float = TIMEOUT_S) -> list[Outcome]:
    return Series(calls, timeout_s).run()


def test_a_stream_is_read_to_its_end(stack: ExitStack) -> None:
    (outcome,) = run(stream(listen(stack, answer_and_close)))
    assert (outcome.status, outcome.answer) == ("ok", b"got " + QUESTION)
    assert outcome.source_port > 0


def test_the_chosen_source_port_is_used_and_may_be_used_again(stack: ExitStack) -> None:
    seen = []

    def note(connection: socket.socket) -> None:
        seen.append(connection.getpeername()[1])
        answer_and_close(connection)

    port, own = listen(stack, note), closed_port()
    outcomes = run(stream(port, source_port=own))
    assert [outcome.source_port for outcome in outcomes] == seen == [own]


def test_a_refusal_is_named() -> None:
    (outcome,) = run(stream(closed_port()))
    assert outcome.status == "ECONNREFUSED"


def test_a_reset_is_named(stack: ExitStack) -> None:
    def reset(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    (outcome,) = run(stream(listen(stack, reset)))
    assert outcome.status == "ECONNRESET"


def test_an_address_that_is_not_ours_is_named() -> None:
    (outcome,) = run(Call("stream", "192.0.2.1", 0, LOOPBACK, 80, QUESTION))
    assert outcome.status == "EADDRNOTAVAIL"


def test_a_server_that_never_answers_times_out_and_holds_up_nobody(stack: ExitStack) -> None:
    silent, good = listen(stack), listen(stack, answer_and_close)
    outcomes = run(stream(silent), stream(good), stream(silent), stream(good))
    assert [outcome.status for outcome in outcomes] == ["ETIMEDOUT", "ok", "ETIMEDOUT", "ok"]


def test_connections_begin_in_the_order_asked_for(stack: ExitStack) -> None:
    order: list[bytes] = []

    def note(connection: socket.socket) -> None:
        order.append(connection.recv(4096))

    port = listen(stack, note)
    questions = [f"{number}".encode() for number in range(20)]
    run(*(stream(port, question=question) for question in questions))
    assert order == questions


def test_a_large_question_arrives_whole(stack: ExitStack) -> None:
    question = bytes(8 << 20)
    received = []

    def count(connection: socket.socket) -> None:
        total = 0
        while total < len(question):
            total += len(connection.recv(1 << 20))
        received.append(total)
        connection.sendall(b"done")

    (outcome,) = run(stream(listen(stack, count), question=question), timeout_s=20)
    assert (outcome.answer, received) == (b"done", [len(question)])


def test_a_prefixed_answer_ends_with_its_length(stack: ExitStack) -> None:
    """DNS over TCP: the server keeps the connection open, the answer says how long it is."""
    done = threading.Event()
    stack.callback(done.set)

    def in_pieces(connection: socket.socket) -> None:
        connection.recv(4096)
        for piece in (b"\0", b"\5he", b"llo"):
            connection.sendall(piece)
        done.wait(TIMEOUT_S * 10)

    call = Call("prefixed", LOOPBACK, 0, LOOPBACK, listen(stack, in_pieces), b"\0\1?")
    (outcome,) = run(call, timeout_s=TIMEOUT_S * 5)
    done.set()
    assert (outcome.status, outcome.answer) == ("ok", b"\0\5hello")


def test_one_datagram_is_one_answer(stack: ExitStack) -> None:
    server = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    server.bind((LOOPBACK, 0))
    thread = threading.Thread(target=lambda: server.sendto(b"echo", server.recvfrom(4096)[1]))
    thread.start()
    (outcome,) = run(Call("datagram", LOOPBACK, 0, LOOPBACK, server.getsockname()[1], b"?"))
    thread.join()
    assert (outcome.status, outcome.answer) == ("ok", b"echo")


def test_a_closed_udp_port_is_refused() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((LOOPBACK, 0))
        port = server.getsockname()[1]
    (outcome,) = run(Call("datagram", LOOPBACK, 0, LOOPBACK, port, b"?"))
    assert outcome.status == "ECONNREFUSED"


def test_no_calls_no_outcomes() -> None:
    assert run() == []


def test_a_worker_that_is_killed_is_gone() -> None:
    worker = Worker()
    worker.kill()
    with pytest.raises(EOFError):
        worker.receive()
    os.waitpid(worker.pid, 0)
    worker.kill()
    worker.socket.close()


def test_ports_that_the_kernel_chooses_are_not_soon_taken_again(stack: ExitStack) -> None:
    """A director would take a call from a port that it remembers for one of the earlier connection."""
    port = listen(stack, answer_and_close)
    outcomes = Series([stream(port)] * 600, TIMEOUT_S).run()
    assert len({outcome.source_port for outcome in outcomes}) == len(outcomes)
