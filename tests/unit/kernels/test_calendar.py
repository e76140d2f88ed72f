"""The calendar of virtual time, asked as a kernel asks it (include/uapi/linux/um_timetravel.h)."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from lvslab.agent.wire import Flow
from lvslab.kernels.calendar import MAX_FREE_NS, MAX_SILENT_WAKES, MIN_FREE_NS, SOCKET, START_NS, WAKE_S, Calendar

MESSAGE = struct.Struct("=IIQ")
ACK, START, REQUEST, WAIT, GET, UPDATE, RUN, FREE_UNTIL, GET_TOD = range(9)
SECOND_NS = 10**9


@dataclass
class Kernel:
    """A kernel's end of the calendar's socket, and a wall clock that the test moves."""

    calendar: Calendar
    socket: socket.socket
    wall_ns: int = 0

    def say(self, *messages: tuple[int, int]) -> list[tuple[int, int]]:
        """Send messages (operation, time); return the answers without their sequence numbers."""
        for number, (op, time_ns) in enumerate(messages, 1000):
            self.socket.send(MESSAGE.pack(op, number, time_ns))
        self.calendar.receive()
        return self.hear()

    def hear(self) -> list[tuple[int, int]]:
        data = b""
        with suppress(BlockingIOError):
            data = self.socket.recv(1 << 16)
        return [(op, time_ns) for op, _, time_ns in MESSAGE.iter_unpack(data)]

    def ask_for(self, time_ns: int) -> None:
        assert self.say((REQUEST, time_ns), (WAIT, 0)) == [(ACK, 0), (ACK, 0)]
        assert self.calendar.waiting

    def goes_on(self, *, has_input: bool = False) -> list[tuple[int, int]]:
        self.calendar.advance(has_input=has_input)
        return self.hear()


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    before = Path.cwd()
    found: list[Kernel] = []
    calendar = Calendar(tmp_path, lambda: found[0].wall_ns)
    os.chdir(before)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.connect(str(tmp_path / SOCKET))
        calendar.receive()
        end.setblocking(False)
        found.append(Kernel(calendar, end))
        yield found[0]


def test_every_question_is_answered(kernel: Kernel) -> None:
    assert kernel.say((START, 7)) == [(ACK, 0)]
    assert kernel.say((GET_TOD, 0)) == [(ACK, START_NS)]
    assert kernel.say((UPDATE, 55), (GET, 0)) == [(ACK, 0), (ACK, 55)]
    assert kernel.say((ACK, 0)) == []


def test_half_a_message_is_no_message(kernel: Kernel) -> None:
    whole = MESSAGE.pack(GET, 1, 0)
    kernel.socket.send(whole[:5])
    kernel.calendar.receive()
    assert kernel.hear() == []
    kernel.socket.send(whole[5:])
    kernel.calendar.receive()
    assert kernel.hear() == [(ACK, 0)]


def test_free_time_goes_at_once_to_where_the_kernel_wants_it(kernel: Kernel) -> None:
    kernel.ask_for(5)
    assert kernel.goes_on() == [(FREE_UNTIL, 5 + MIN_FREE_NS), (RUN, 5)]
    assert not kernel.calendar.waiting
    assert kernel.goes_on() == []


def test_steps_grow_with_the_time_that_has_flown_freely(kernel: Kernel) -> None:
    kernel.ask_for(1)
    kernel.goes_on()
    kernel.ask_for(10 * SECOND_NS)
    assert kernel.goes_on()[0] == (FREE_UNTIL, 10 * SECOND_NS + SECOND_NS // 2)
    kernel.ask_for(10_000 * SECOND_NS)
    assert kernel.goes_on()[0] == (FREE_UNTIL, 10_000 * SECOND_NS + MAX_FREE_NS)
    kernel.calendar.set_flow(Flow.STAND)
    kernel.calendar.set_flow(Flow.FREE)
    kernel.ask_for(10_001 * SECOND_NS)
    assert kernel.goes_on()[0] == (FREE_UNTIL, 10_001 * SECOND_NS + SECOND_NS // 20)


def test_standing_time_waits_for_input(kernel: Kernel) -> None:
    kernel.calendar.set_flow(Flow.STAND)
    kernel.ask_for(3 * SECOND_NS)
    kernel.wall_ns = 1000 * SECOND_NS
    assert kernel.goes_on() == []
    assert kernel.calendar.timeout_s() is None
    assert kernel.goes_on(has_input=True)[-1] == (RUN, 3 * SECOND_NS)


def test_paced_time_keeps_step_with_the_wall(kernel: Kernel) -> None:
    kernel.wall_ns = 100 * SECOND_NS
    kernel.calendar.set_flow(Flow.PACED)
    kernel.ask_for(3 * SECOND_NS)
    kernel.wall_ns = 102 * SECOND_NS
    assert kernel.goes_on() == []
    assert kernel.calendar.timeout_s() == 1.0
    kernel.wall_ns = 103 * SECOND_NS
    assert kernel.goes_on()[-1] == (RUN, 3 * SECOND_NS)


def test_a_kernel_that_never_asks_again_is_stuck(kernel: Kernel) -> None:
    kernel.say((START, 7))
    assert kernel.calendar.timeout_s() == WAKE_S
    for _ in range(MAX_SILENT_WAKES - 1):
        kernel.calendar.nothing_came()
    assert not kernel.calendar.stuck
    kernel.calendar.nothing_came()
    assert kernel.calendar.stuck


def test_a_kernel_that_waits_for_us_is_not_stuck(kernel: Kernel) -> None:
    kernel.calendar.set_flow(Flow.STAND)
    kernel.ask_for(1)
    for _ in range(2 * MAX_SILENT_WAKES):
        kernel.calendar.nothing_came()
    assert not kernel.calendar.stuck


def test_the_kernels_end_is_no_question(kernel: Kernel) -> None:
    kernel.socket.close()
    kernel.calendar.receive()
    assert kernel.calendar.descriptor is None
    assert kernel.calendar.timeout_s() == WAKE_S
