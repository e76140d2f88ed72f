"""A connection table read again and again: what changed in it, and between which two readings.

The kernel tells nobody when an entry changes. All that can be known is that the last reading of the old state had
begun, and the first reading of the new one not yet ended, when it did; states that came and went in between were not
seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lvslab.ipvs.model import Connection
from lvslab.topology.model import Address

EntryKey = tuple[str, Address, int, Address, int]
"""Protocol, client and port, virtual address and port: what the kernel finds an entry by."""


@dataclass(frozen=True, slots=True)
class Spell:
    """The entries of the table, for as long as each reading had them. Times are nanoseconds since the epoch."""

    entries: tuple[Connection, ...]
    first_end_ns: int
    """When the first reading that had them ended."""
    last_begin_ns: int
    """When the last reading that had them began."""
    readings: int


@dataclass(frozen=True, slots=True)
class WatchedTable:
    """All readings of one table, in order."""

    spells: tuple[Spell, ...]
    longest_gap_ns: int
    """The longest time from the beginning of one reading to the end of the next."""

    @property
    def readings(self) -> int:
        return sum(spell.readings for spell in self.spells)


@dataclass(frozen=True, slots=True)
class TableChange:
    """One entry that came, went, took another state or got its time anew."""

    before: Connection | None
    """As the last reading before had it; None if it was not there."""
    after: Connection | None
    """As the first reading after had it; None if it was gone."""
    since_ns: int
    """It happened after this: when the last reading without it began."""
    seen_ns: int
    """It happened before this: when the first reading with it ended."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one reading of a director's table had that the one before had not."""

    at_s: float
    """When the reading was over, in seconds since the epoch."""
    director: str
    before: Connection | None
    after: Connection | None
    is_first: bool
    """There was no reading before: the entry may be as old as may be."""


def entry_key(entry: Connection) -> EntryKey:
    return entry.protocol, entry.client, entry.client_port, entry.virtual, entry.virtual_port


def table_changes(table: WatchedTable, wanted: Callable[[Connection], bool]) -> tuple[TableChange, ...]:
    """Return the changes of the entries that are wanted, in order; those there from the beginning are no change."""
    return tuple(change for pair in pairwise(table.spells) for change in _between(*pair, wanted))


def _between(old: Spell, new: Spell, wanted: Callable[[Connection], bool]) -> Iterator[TableChange]:
    for before, after in changed_entries(old.entries, new.entries):
        entry = after or before
        if entry is not None and wanted(entry):
            yield TableChange(before, after, old.last_begin_ns, new.first_end_ns)


def changed_entries(
    old: Sequence[Connection], new: Sequence[Connection]
) -> Iterator[tuple[Connection | None, Connection | None]]:
    """Yield what is different, as it was and as it is: time that only passed is no difference, time added is one."""
    before = {entry_key(entry): entry for entry in old}
    after = {entry_key(entry): entry for entry in new}
    for key in dict.fromkeys((*before, *after)):
        was, now = before.get(key), after.get(key)
        if was is None or now is None or _differs(was, now):
            yield was, now


def _differs(was: Connection, now: Connection) -> bool:
    """Compare also the server: the port of a finished connection may come again and be scheduled anew."""
    same = (was.state, was.destination, was.destination_port) == (now.state, now.destination, now.destination_port)
    return not same or now.expires_s > was.expires_s
