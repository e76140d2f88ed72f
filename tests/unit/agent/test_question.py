"""A question to a program's socket: it may come too early, and the answer in pieces."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lvslab.agent.question import Question


@pytest.fixture
def listener(tmp_path: Path) -> socket.socket:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.bind(str(tmp_path / "socket"))
    return channel


def test_an_answer_may_come_in_pieces(listener: socket.socket, tmp_path: Path) -> None:
    with listener:
        listener.listen()
        question = Question(str(tmp_path / "socket"), b"how many?\n")
        assert question.advance() is None
        program, _ = listener.accept()
        with program:
            assert program.recv(100) == b"how many?\n"
            program.sendall(b"twenty-")
            assert question.advance() is None
            program.sendall(b"two\n")
            assert question.advance() == b"twenty-two\n"
        question.close()


def test_a_program_that_does_not_listen_yet_is_asked_again(listener: socket.socket, tmp_path: Path) -> None:
    question = Question(str(tmp_path / "socket"), b"?\n")
    early = Question(str(tmp_path / "none"), b"?\n")
    assert question.advance() is None
    assert early.advance() is None
    with listener:
        listener.listen()
        assert question.advance() is None
        program, _ = listener.accept()
        with program:
            assert program.recv(100) == b"?\n"
    question.close()


def test_a_program_that_hangs_up_gives_no_answer(listener: socket.socket, tmp_path: Path) -> None:
    with listener:
        listener.listen()
        question = Question(str(tmp_path / "socket"), b"?\n")
        assert question.advance() is None
        program, _ = listener.accept()
        assert program.recv(100)
        program.close()
        with pytest.raises(ConnectionResetError, match="no answer"):
            question.advance()
    question.close()
