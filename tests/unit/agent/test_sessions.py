"""A session's streams in the agent, with real programs and no lab."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
from collections import defaultdict

import pytest

from lvslab.agent.sessions import LAST_BYTES, Session, open_pipes, open_terminal
from lvslab.agent.wire import (
    GRANT_PAYLOAD,
    INPUT_WINDOW_BYTES,
    OUTPUT_WINDOW_BYTES,
    STDERR,
    STDIN,
    STDOUT,
    Kind,
    WireFrame,
)


class Bench:
    """Runs a shell script in a session, as the agent would, and keeps what the client is told."""

    def __init__(self, script: str, *, terminal: bool = False) -> None:
        self.selector = selectors.DefaultSelector()
        self.streams: dict[int, bytes] = defaultdict(bytes)
        self.granted = 0
        self.status: int | None = None
        streams = open_terminal(24, 80) if terminal else open_pipes()
        stdin, stdout, stderr = streams.child_ends
        self.program = subprocess.Popen(
            ["bash", "-c", script], stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
        )
        for end in set(streams.child_ends):
            os.close(end)
        self.session = Session(self.selector, self._send, streams, self.program.pid)

    def _send(self, kind: Kind, payload: bytes) -> None:
        if kind is Kind.STREAM:
            self.streams[payload[0]] += payload[1:]
        elif kind is Kind.GRANT:
            self.granted += GRANT_PAYLOAD.unpack(payload)[0]
        elif kind is Kind.EXIT:
            self.status = json.loads(payload)["status"]

    def tell(self, kind: Kind, payload: bytes) -> None:
        self.session.take(WireFrame(kind, 1, payload))

    def work(self) -> bool:
        """Do what there is to do; return whether there was anything."""
        if not self.selector.get_map():
            return False
        ready = self.selector.select(0.05)
        for key, events in ready:
            key.data(events)
        return bool(ready)

    def finish(self) -> None:
        while self.program.poll() is None:
            self.work()
        self.session.ended(self.program.returncode)


@pytest.mark.parametrize(("script", "status"), [("true", 0), ("exit 7", 7), ("kill -9 $$", -9)])
def test_the_status_is_passed_on(script: str, status: int) -> None:
    bench = Bench(script)
    bench.finish()
    assert bench.status == status


def test_both_outputs_and_the_input() -> None:
    bench = Bench("cat; echo oh >&2")
    bench.tell(Kind.STREAM, bytes([STDIN]) + b"\0\xff")
    bench.tell(Kind.STREAM, bytes([STDIN]))
    bench.finish()
    assert bench.streams == {STDOUT: b"\0\xff", STDERR: b"oh\n"}


def test_no_more_is_sent_than_was_granted() -> None:
    bench = Bench("head -c 1000000 /dev/zero")
    while bench.work():
        pass
    assert len(bench.streams[STDOUT]) == OUTPUT_WINDOW_BYTES
    while len(bench.streams[STDOUT]) < 1_000_000:
        bench.tell(Kind.GRANT, GRANT_PAYLOAD.pack(50_000))
        bench.work()
    bench.finish()
    assert len(bench.streams[STDOUT]) == 1_000_000


def test_input_is_granted_again_as_the_program_takes_it() -> None:
    bench = Bench("sleep 1000")
    bench.tell(Kind.STREAM, bytes([STDIN]) + bytes(INPUT_WINDOW_BYTES))
    assert bench.granted == INPUT_WINDOW_BYTES  # what a pipe holds counts as taken
    for _ in range(20):
        bench.tell(Kind.STREAM, bytes([STDIN]) + bytes(INPUT_WINDOW_BYTES))
    assert bench.granted < 20 * INPUT_WINDOW_BYTES
    bench.program.kill()
    bench.finish()


def test_what_was_ready_before_the_end_is_let_be_after_it() -> None:
    """A selector tells of outputs and of the program's end at once, and the end may be handled first."""
    bench = Bench("yes & sleep 0.1")
    bench.program.wait()
    ready = bench.selector.select(1)
    assert ready
    bench.session.ended(0)
    reused = os.open(os.devnull, os.O_RDONLY)
    for key, events in ready:
        key.data(events)
    assert os.read(reused, 1) == b"", "a descriptor that has come to be another's is not closed"
    os.close(reused)
    assert not bench.selector.get_map()


def test_a_process_left_behind_that_writes_for_ever_is_not_waited_for() -> None:
    bench = Bench("yes & sleep 0.1")
    bench.finish()
    assert bench.status == 0
    assert len(bench.streams[STDOUT]) <= OUTPUT_WINDOW_BYTES + LAST_BYTES


def test_a_terminal_has_the_clients_size() -> None:
    bench = Bench("read -r line; stty size", terminal=True)
    bench.tell(Kind.RESIZE, bytes([0, 33, 0, 101]))
    bench.tell(Kind.STREAM, bytes([STDIN]) + b"\n")
    bench.finish()
    assert b"33 101" in bench.streams[STDOUT]
