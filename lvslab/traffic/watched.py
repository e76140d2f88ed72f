"""One call to a virtual service while its director's connection table is read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lvslab.agent import one_call
from lvslab.ipvs.proc import connections
from lvslab.ipvs.watched import Spell, WatchedTable
from lvslab.sandbox.sandbox import Sandbox, Watch
from lvslab.topology.model import Address, Topology, VirtualService
from lvslab.traffic.calls import TARGETS, call_fields
from lvslab.traffic.drive import first_client
from lvslab.traffic.outcome import Outcome
from lvslab.traffic.ports import free_ports

TABLE: Final = "/proc/net/ip_vs_conn"
HEADER_LINES: Final = 1
PERIOD_S: Final = 0.005
AFTER_S: Final = 0.5
"""How long to read on when the client has its answer: the last packets are under way."""
LATE_PERIOD_S: Final = 0.2
"""From then on nothing but the time changes the table."""
LONGEST_S: Final = 1800.0
"""Twice the longest time that the kernel gives an entry unasked, 15 minutes (ip_vs_proto_tcp.c: tcp_timeouts)."""


class Ending(StrEnum):
    """Who ends the connection, and how."""

    SERVER = one_call.SERVER
    """The server, after its answer."""
    CLIENT = one_call.CLIENT
    """The client, before it asks."""
    RESET = one_call.RESET
    """The client, by a reset before it asks."""


@dataclass(frozen=True, slots=True)
class WatchedCall:
    client: Address
    outcome: Outcome
    table: WatchedTable


def watched_call(
    sandbox: Sandbox,
    topology: Topology,
    service: VirtualService,
    ending: Ending,
    ports_taken: Collection[int],
    *,
    until_gone: bool,
) -> WatchedCall:
    """Call the service once from its first client; `until_gone` reads on until the table is empty."""
    client, source = first_client(topology, service.vip)
    (port,) = free_ports(1, ports_taken)
    target = TARGETS[service.protocol](source, port, service.vip, service.port)
    longest_s = LONGEST_S if until_gone else AFTER_S
    until_lines = HEADER_LINES if until_gone else None
    watch = Watch(service.director, TABLE, PERIOD_S, AFTER_S, until_lines, LATE_PERIOD_S, longest_s)
    answer, watched = sandbox.watched_call(client.name, call_fields(target), target.question, ending, watch)
    ((status, source_port, seconds),) = answer.fields["outcomes"]
    outcome = Outcome(
        client.name, source_port, target.address, target.port, status, seconds, answer.blobs[0], target.protocol
    )
    spells = tuple(
        Spell(connections(spell.text.decode()), spell.first_end_ns, spell.last_begin_ns, spell.readings)
        for spell in watched.spells
    )
    return WatchedCall(source, outcome, WatchedTable(spells, watched.longest_gap_ns))
