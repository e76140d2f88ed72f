"""A call's chosen end against real servers on the loopback interface, and a file that is read while it changes."""

from __future__ import annotations

import socket
from contextlib import ExitStack, nullcontext
from pathlib import Path
from queue import Queue
from typing import Any, cast

import pytest

from lvslab.agent.namespaces import Namespaces
from lvslab.agent.one_call import CLIENT, RESET, SERVER, make_call
from lvslab.agent.watch import Watch
from tests.unit.agent.test_clients import TIMEOUT_S, answer_and_close, closed_port, listen, stream


@pytest.mark.parametrize(
    ("ending", "heard", "answer"),
    [(SERVER, b"GET / HTTP/1.0\r\n\r\n", b"got GET / HTTP/1.0\r\n\r\n"), (CLIENT, b"", b""), (RESET, "reset", b"")],
)
def test_who_ends_the_call(ending: str, heard: bytes | str, answer: bytes) -> None:
    received: Queue[bytes | str] = Queue()

    def serve(connection: socket.socket) -> None:
        try:
            data = connection.recv(4096)
        except ConnectionResetError:
            received.put("reset")
            return
        received.put(data)
        connection.sendall(b"got " + data)

    with ExitStack() as stack:
        outcome = make_call(stream(listen(stack, serve)), ending, TIMEOUT_S)
        assert (outcome.status, outcome.answer, received.get()) == ("ok", answer, heard)


def test_what_fails_has_the_errors_name() -> None:
    assert make_call(stream(closed_port()), SERVER, TIMEOUT_S).status == "ECONNREFUSED"
    with ExitStack() as stack:
        silent = listen(stack)
        assert make_call(stream(silent), SERVER, 0.05).status == "ETIMEDOUT"


def test_the_port_is_the_one_asked_for() -> None:
    port = closed_port()
    with ExitStack() as stack:
        outcome = make_call(stream(listen(stack, answer_and_close), source_port=port), SERVER, TIMEOUT_S)
    assert outcome.source_port == port


class Here:
    """Namespaces of which there is one: this."""

    def inside(self, _node: str) -> Any:
        return nullcontext()


def test_a_text_that_stays_is_kept_once_with_its_first_and_last_reading(tmp_path: Path) -> None:
    file = tmp_path / "table"
    watch = Watch(cast("Namespaces", Here()), "director", str(file))
    for text in ("one", "one", "two", "one"):
        file.write_text(text)
        assert watch.read() == text.encode()
    assert [(spell.text, spell.readings) for spell in watch.spells] == [(b"one", 2), (b"two", 1), (b"one", 1)]
    for before, after in zip(watch.spells, watch.spells[1:], strict=False):
        assert before.last_begin_ns < after.first_end_ns
        assert after.first_end_ns - before.last_begin_ns <= watch.longest_gap_ns
