"""The connection table on paper of any width: whole words, and everything that is known."""

from __future__ import annotations

import io
from ipaddress import ip_address

import pytest
from rich.console import Console

from lvslab.ipvs.entries import Entry, Kind, Origin
from lvslab.ipvs.model import Connection
from lvslab.report.connections_terminal import ConnectionTable
from lvslab.topology.model import Method

CLIENT, VIP, SERVER = map(ip_address, ("203.0.113.10", "198.18.0.100", "198.18.0.11"))
NAMES = {str(CLIENT): "client", str(VIP): "VIP", str(SERVER): "rs1"}
ENTRIES = [
    Entry(Connection("TCP", CLIENT, port, VIP, 80, SERVER, 80, state, 117), Kind.CONNECTION, Method.DR, Origin.LOCAL)
    for port, state in ((20002, "ESTABLISHED"), (20001, "FIN_WAIT"))
]


def shown(width: int, entries: list[Entry]) -> list[str]:
    output = io.StringIO()
    Console(file=output, width=width, color_system=None).print(ConnectionTable("director", entries, NAMES))
    return [line.rstrip() for line in output.getvalue().splitlines()]


@pytest.mark.parametrize("width", [30, 60, 75, 76, 120])
def test_no_word_of_it_is_cut(width: int) -> None:
    lines = shown(width, ENTRIES)
    assert max(map(len, lines)) <= width
    for word in ("director: 2 entries", "client:20001", "client:20002", "VIP:80", "rs1:80", "ESTABLISHED", "FIN_WAIT"):
        assert any(word in line for line in lines), word


def test_without_room_for_columns_each_entry_has_lines_of_its_own_in_the_same_order() -> None:
    lines = shown(60, ENTRIES)
    assert lines[1] == "TCP client:20001 → VIP:80 → rs1:80"
    assert lines[2].split(", ")[:2] == ["    FIN_WAIT", "117 s"]
    assert lines[3] == "TCP client:20002 → VIP:80 → rs1:80"


@pytest.mark.parametrize("width", [30, 120])
def test_an_empty_table_is_said_to_be_empty(width: int) -> None:
    assert shown(width, []) == ["director: 0 entries"]
