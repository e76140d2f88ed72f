"""Source ports of the drive: in a row, none of them remembered, none that other programs are given."""

from __future__ import annotations

import pytest

from lvslab.errors import CannotRun
from lvslab.traffic.ports import FIRST_PORT, LAST_PORT, free_ports

FIRST_EPHEMERAL = 32768
"""Default of net.ipv4.ip_local_port_range (ip-sysctl.rst)."""


@pytest.mark.parametrize(
    ("count", "taken", "first"),
    [
        (5, [], 0),
        (5, [0, 1, 2, 3, 4], 5),
        (5, [4], 5),
        (5, [5], 0),
        (5, [3, 8, 20], 9),
        (5, [8, 3, 20], 9),
        (5, [-1, 40000 - FIRST_PORT], 0),
        (1, [0, 2], 1),
    ],
)
def test_the_first_row_without_a_remembered_port(count: int, taken: list[int], first: int) -> None:
    remembered = {FIRST_PORT + port for port in taken}
    ports = free_ports(count, remembered)
    assert (ports[0], len(ports)) == (FIRST_PORT + first, count)
    assert remembered.isdisjoint(ports)


def test_ports_end_below_those_of_other_programs() -> None:
    everything = LAST_PORT - FIRST_PORT + 1
    assert free_ports(everything, ())[-1] == LAST_PORT < FIRST_EPHEMERAL
    with pytest.raises(CannotRun, match="no source ports are left"):
        free_ports(everything, {LAST_PORT})
