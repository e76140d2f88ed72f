"""The client's end of a session against a lab that is a socket: statuses, broken streams, a lab that goes away."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lvslab.agent.wire import (
    GRANT_PAYLOAD,
    INPUT_WINDOW_BYTES,
    STDERR,
    STDIN,
    STDOUT,
    FrameReader,
    Kind,
    Message,
    WireFrame,
    message_frames,
)
from lvslab.kernels.session import CHANNEL

CLIENT = """
import socket, sys
from lvslab.errors import LvslabError
from lvslab.kernels.session import SessionOrder, run_session
try:
    connection = socket.socket(fileno=int(sys.argv[1]))
    sys.exit(run_session(connection, SessionOrder("rs1", ("cat",), {}, False)))
except LvslabError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_status)
except BrokenPipeError:
    sys.exit(141)
"""


def start(lab_end: socket.socket, client_end: socket.socket, stdin: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    program = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(client_end.fileno())],
        pass_fds=[client_end.fileno()],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    client_end.close()
    return program


def frame(kind: Kind, payload: bytes) -> bytes:
    return WireFrame(kind, CHANNEL, payload).encode()


def ended(status: int) -> bytes:
    return frame(Kind.EXIT, json.dumps({"status": status}).encode())


def gone(reason: str, last_words: str = "") -> bytes:
    return frame(Kind.GONE, json.dumps({"reason": reason, "last_words": last_words}).encode())


def refused(errno: int, text: str) -> bytes:
    return message_frames(CHANNEL, Message({"error": {"errno": errno, "text": text}}))


@pytest.mark.parametrize(
    ("said", "status", "stdout", "stderr"),
    [
        (ended(0), 0, b"", ""),
        (ended(7), 7, b"", ""),
        (ended(-9), 137, b"", ""),
        (frame(Kind.STREAM, bytes([STDOUT]) + b"\0\xff") + ended(1), 1, b"\0\xff", ""),
        (frame(Kind.STREAM, bytes([STDERR]) + b"oh") + ended(1), 1, b"", "oh"),
        (refused(2, "there is none"), 127, b"", "cat: the program could not be started: found there is none\n"),
        (
            refused(13, "Permission denied"),
            126,
            b"",
            "cat: the program could not be started: found Permission denied\n",
        ),
        (refused(12, "no memory"), 3, b"", "cat: the program could not be started: found no memory\n"),
        (gone("the lab was stopped"), 3, b"", "the lab was stopped; lvslab up starts it again\n"),
        (gone("it died", "panic"), 3, b"", "it died: found panic; lvslab up starts it again\n"),
        (b"", 3, b"", "the lab is gone; see lvslab ps\n"),
        (b"\xff" * 20, 3, b"", "what the agent sent makes no sense: found there is no frame of kind 255\n"),
    ],
)
def test_how_it_ends(said: bytes, status: int, stdout: bytes, stderr: str) -> None:
    lab, client = socket.socketpair()
    with start(lab, client) as program, lab:
        lab.sendall(said)
        lab.shutdown(socket.SHUT_WR)
        output, errors = program.communicate()
    assert (program.returncode, output, errors.decode()) == (status, stdout, stderr)


def test_input_waits_for_what_was_granted() -> None:
    lab, client = socket.socketpair()
    with start(lab, client) as program, lab:
        assert program.stdin is not None
        program.stdin.write(bytes(3 * INPUT_WINDOW_BYTES))
        program.stdin.close()
        frames = FrameReader()
        received = 0
        granted = INPUT_WINDOW_BYTES
        finished = False
        while not finished:
            for got in frames.feed(lab.recv(1 << 16)):
                if got.kind is Kind.STREAM:
                    assert got.payload[0] == STDIN
                    received += len(got.payload) - 1
                    finished = len(got.payload) == 1
            assert received <= granted
            if received == granted:
                lab.sendall(frame(Kind.GRANT, GRANT_PAYLOAD.pack(1000)))
                granted += 1000
        assert received == 3 * INPUT_WINDOW_BYTES
        lab.sendall(ended(0))


def test_a_reader_that_is_gone_ends_it() -> None:
    lab, client = socket.socketpair()
    with start(lab, client) as program, lab:
        assert program.stdout is not None
        program.stdout.close()
        lab.sendall(frame(Kind.STREAM, bytes([STDOUT]) + b"y\n"))
        assert program.wait() == 141


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    lab, client = socket.socketpair()
    with Path("/dev/full").open("wb") as full:
        program = subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(client.fileno())],
            pass_fds=[client.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    client.close()
    with program, lab:
        lab.sendall(frame(Kind.STREAM, bytes([STDOUT]) + b"y\n"))
        _, errors = program.communicate()
    assert (program.returncode, errors) == (
        3,
        f"the program's output cannot be passed on: found {os.strerror(28)}\n".encode(),
    )
