"""One connection at its director: its packets, and what each made of the entry in the connection table, in one line.

A packet acts on the table between its two frames at the director, the one that came in and the one that went out
(net/netfilter/ipvs/ip_vs_core.c: ip_vs_in, ip_vs_out); a change of the table happened between two readings of it. A
packet whose time there touches the time between the readings may have made the change: where it is the only one, it
did; where there are several, it was one of them; where there is none, no packet did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from lvslab.ipvs.model import Connection
from lvslab.ipvs.templates import client_network, is_template
from lvslab.ipvs.watched import TableChange, WatchedTable, table_changes
from lvslab.topology.model import VirtualService
from lvslab.walk.model import Conversation, Endpoint, Hop, Walk, Walks


@dataclass(frozen=True, slots=True)
class Passing:
    """A packet of the connection at the director."""

    walk: Walk
    first: Hop
    """Where the director first had it."""
    last: Hop
    """Where it last had it: the same, if it sent nothing on."""
    is_reply: bool
    is_error: bool = False
    """An ICMP error about the connection."""

    @property
    def time_ns(self) -> int:
        return self.first.time_ns


@dataclass(frozen=True, slots=True)
class EntryChange:
    """A change of the entry, and the packets that may have made it."""

    change: TableChange
    candidates: tuple[Passing, ...]

    @property
    def time_ns(self) -> int:
        """When it was seen."""
        return self.change.seen_ns


Event = Passing | EntryChange


def timeline_of_call(
    walks: Walks, service: VirtualService, client: str, client_port: int, table: WatchedTable
) -> tuple[Event, ...]:
    """Return the time line of the call that a client's address and port made to a service.

    The client's template is part of it. Nothing but changes is in it if no packet of the call was captured.
    """
    caller, vip = Endpoint(client, client_port), Endpoint(str(service.vip), service.port)
    network = client_network(ip_address(client), service.persistence_prefix)

    def wanted(entry: Connection) -> bool:
        if is_template(entry):
            return entry.client == network.network_address
        return (str(entry.client), entry.client_port) == (client, client_port)

    changes = table_changes(table, wanted)
    own = (each for each in walks.conversations if each.initiator == caller)
    conversation = next(own, Conversation(service.protocol.value, caller, vip, (), ()))
    return timeline(conversation, service.director, changes)


def timeline(conversation: Conversation, director: str, changes: Sequence[TableChange]) -> tuple[Event, ...]:
    """Return packets and changes in order of time; a change stands where a reading first had it."""
    packets = passings(conversation, director)
    seen = [EntryChange(change, tuple(each for each in packets if _may_have_made(each, change))) for change in changes]
    events: Iterable[Event] = (*packets, *seen)
    return tuple(sorted(events, key=lambda event: (event.time_ns, isinstance(event, EntryChange))))


def passings(conversation: Conversation, director: str) -> tuple[Passing, ...]:
    """Return the connection's packets that the director had, in order."""
    found = []
    for walk in conversation.walks:
        hops = walk.at(director)
        if hops:
            is_error = walk in conversation.errors
            found.append(Passing(walk, hops[0], hops[-1], is_error or walk in conversation.replies, is_error))
    return tuple(sorted(found, key=lambda passing: passing.first.number))


def _may_have_made(passing: Passing, change: TableChange) -> bool:
    return passing.first.time_ns <= change.seen_ns and passing.last.time_ns >= change.since_ns
