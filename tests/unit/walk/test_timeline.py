"""Packets at the director and changes of its table on one time line, without a kernel; how it looks, word for word.

The table's readings are made up around the frames of a made-up capture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from lvslab.ipvs.entries import Sees
from lvslab.ipvs.model import Connection
from lvslab.ipvs.watched import Spell, WatchedTable
from lvslab.lab import WatchedConnection
from lvslab.report.connections_json import timeline_document
from lvslab.report.timeline_terminal import render_timeline
from lvslab.topology.model import Protocol
from lvslab.traffic.outcome import Outcome
from lvslab.walk.model import Walks
from lvslab.walk.timeline import EntryChange, Event, Passing, timeline_of_call
from tests.unit.verify.scenes import DR, NAT, topology
from tests.unit.walk import build
from tests.unit.walk.test_walk_terminal import printed, walks_of

GOLDEN = Path(__file__).parents[2] / "golden" / "timelines"
(NAT_SERVICE,) = topology(NAT).services
(DR_SERVICE,) = topology(DR).services
CLIENT, PORT = build.CLIENT, build.CLIENT_PORT
A_MOMENT_NS = 1000
RS1 = ip_address("192.0.2.11")

State = tuple[str, int]


def entry(state: str, left_s: int, *, port: int = PORT) -> Connection:
    return Connection("TCP", ip_address(CLIENT), port, NAT_SERVICE.vip, 80, RS1, 8080, state, left_s)


def read_after(walks: Walks, states: Sequence[tuple[int, State | None]], *, begin: int = 1) -> WatchedTable:
    """Return readings of which each state begins with the one a moment after the director passed the n-th packet on."""
    passed = [event.last.time_ns for event in passings(walks)]
    starts = [passed[begin - 1] - 10 * A_MOMENT_NS, *(passed[number - 1] + A_MOMENT_NS for number, _ in states)]
    ends = [passed[number - 1] - A_MOMENT_NS for number, _ in states]
    tables = [(), *((entry(*state),) if state else () for _, state in states)]
    spells = [
        Spell(entries, start, end, 2)
        for entries, start, end in zip(tables, starts, [*ends, starts[-1] + A_MOMENT_NS], strict=True)
    ]
    return WatchedTable(tuple(spells), 2 * A_MOMENT_NS)


def passings(walks: Walks) -> list[Passing]:
    events = timeline_of_call(walks, NAT_SERVICE, CLIENT, PORT, WatchedTable((), 0))
    return [event for event in events if isinstance(event, Passing)]


def changes(events: Sequence[Event]) -> list[EntryChange]:
    return [event for event in events if isinstance(event, EntryChange)]


def test_the_directors_packets_are_those_that_it_had() -> None:
    assert [passing.is_reply for passing in passings(walks_of("nat"))] == [False, True, False, False, True, False, True]
    events = timeline_of_call(walks_of("dr"), DR_SERVICE, CLIENT, PORT, WatchedTable((), 0))
    assert [isinstance(event, Passing) and event.is_reply for event in events] == [False] * 4


NAT_STATES: list[tuple[int, State | None]] = [
    (1, ("SYN_RECV", 59)),
    (3, ("ESTABLISHED", 899)),
    (5, ("FIN_WAIT", 119)),
    (6, ("TIME_WAIT", 119)),
]


def test_each_change_is_given_to_the_packet_before_the_reading_that_has_it() -> None:
    walks = walks_of("nat")
    events = timeline_of_call(walks, NAT_SERVICE, CLIENT, PORT, read_after(walks, NAT_STATES))
    packets = passings(walks)
    assert [change.candidates for change in changes(events)] == [(packets[number - 1],) for number, _ in NAT_STATES]


def test_where_several_packets_passed_between_two_readings_it_was_one_of_them() -> None:
    walks = walks_of("nat")
    whole = read_after(walks, NAT_STATES)
    first, last = whole.spells[0], whole.spells[-1]
    events = timeline_of_call(walks, NAT_SERVICE, CLIENT, PORT, WatchedTable((first, last), 0))
    (change,) = changes(events)
    assert change.candidates == tuple(passings(walks)[:6])
    # Nothing is made up of what was between: it went from nothing to TIME_WAIT.
    assert (change.change.before, change.change.after) == (None, entry("TIME_WAIT", 119))


def test_time_that_passes_is_no_change_and_time_added_is_one() -> None:
    walks = walks_of("nat")
    states: list[tuple[int, State | None]] = [(1, ("SYN_RECV", 59)), (2, ("SYN_RECV", 58)), (3, ("SYN_RECV", 60))]
    events = timeline_of_call(walks, NAT_SERVICE, CLIENT, PORT, read_after(walks, states))
    seen = [(one.change.before, one.change.after) for one in changes(events)]
    assert seen == [(None, entry("SYN_RECV", 59)), (entry("SYN_RECV", 58), entry("SYN_RECV", 60))]


def test_entries_of_other_connections_are_left_out_and_the_clients_template_is_not() -> None:
    walks = walks_of("nat")
    table = read_after(walks, [(1, ("SYN_RECV", 59))])
    others = (entry("SYN_RECV", 59, port=PORT + 1), entry("NONE", 300, port=0))
    spells = (table.spells[0], replace(table.spells[1], entries=others))
    events = timeline_of_call(walks, NAT_SERVICE, CLIENT, PORT, WatchedTable(spells, 0))
    assert [one.change.after for one in changes(events)] == [entry("NONE", 300, port=0)]


def test_what_no_packet_did_the_time_did() -> None:
    walks = walks_of("nat")
    table = read_after(walks, [(1, ("SYN_RECV", 0))])
    late = table.spells[-1].last_begin_ns + 60 * 10**9
    gone = Spell((), late + A_MOMENT_NS, late, 1)
    last = replace(table.spells[-1], last_begin_ns=late - A_MOMENT_NS)
    events = timeline_of_call(walks, NAT_SERVICE, CLIENT, PORT, WatchedTable((*table.spells[:-1], last, gone), 0))
    assert [len(one.candidates) for one in changes(events)] == [1, 0]
    assert changes(events)[-1].change.after is None


def watched(states: Sequence[tuple[int, State | None]]) -> WatchedConnection:
    walks = walks_of("nat")
    table = read_after(walks, states)
    events = timeline_of_call(walks, NAT_SERVICE, CLIENT, PORT, table)
    outcome = Outcome("client", PORT, str(NAT_SERVICE.vip), 80, "ok", 0.1, b"rs1\n", Protocol.TCP)
    return WatchedConnection(NAT_SERVICE, build.nat(), walks, ip_address(CLIENT), outcome, table, events)


@pytest.mark.parametrize("width", [40, 80])
def test_golden(width: int) -> None:
    text = printed(render_timeline(watched([*NAT_STATES, (7, None)])), width)
    golden = GOLDEN / f"nat-{width}.txt"
    assert text == golden.read_text()


def test_a_call_that_came_to_nothing_is_said() -> None:
    one = watched([])
    text = printed(render_timeline(replace(one, outcome=replace(one.outcome, status="ETIMEDOUT"))))
    assert "The client's call came to nothing: ETIMEDOUT." in text
    assert "came to nothing" not in printed(render_timeline(one))


def test_a_director_that_no_packet_came_to_saw_nothing() -> None:
    text = printed(render_timeline(replace(watched([]), events=())))
    assert "no packet of it came there" in text
    assert "it sees" not in text


def test_no_entry_is_said() -> None:
    assert "No reading of the table had an entry of this connection." in printed(render_timeline(watched([])))


def test_json_has_the_same() -> None:
    document = timeline_document(watched(NAT_STATES))
    assert (document["sees"], document["method"], document["server"]) == (Sees.BOTH.value, "nat", "rs1")
    events = document["events"]
    assert isinstance(events, list)
    seen = [(one["after"]["state"], one["frames"]) for one in events if one["kind"] == "change"]
    packets = [passing.first.number for passing in passings(walks_of("nat"))]
    assert seen == [(state[0], [packets[number - 1]]) for number, state in NAT_STATES if state]
