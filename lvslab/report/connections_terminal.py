"""A director's connection table: a row for each entry, or some lines where there is no room for columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lvslab.ipvs.entries import Entry, Kind, Origin
from lvslab.report.entry_words import named_end
from lvslab.report.printable import printable

UNKNOWN = "-"
_COLUMNS_NEED = 76
"""Below it the columns of an IPv4 table are folded into single letters."""
_INDENT = 4


@dataclass(frozen=True, slots=True)
class ConnectionTable:
    """A title and the entries, each client's together, with the names of nodes by address."""

    director: str
    entries: Sequence[Entry]
    names: Mapping[str, str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(f"{self.director}: {len(self.entries)} {'entry' if len(self.entries) == 1 else 'entries'}")
        if self.entries and options.max_width >= _COLUMNS_NEED:
            yield _table(self.entries, self.names)
        else:
            yield from (_lines(entry, self.names) for entry in in_order(self.entries))


def in_order(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries by protocol and client; the kernel's order is that of its hash table."""
    return sorted(entries, key=_place)


def _place(entry: Entry) -> tuple[str, int, int, int]:
    one = entry.connection
    return one.protocol, one.client.version, int(one.client), one.client_port


def _table(entries: Sequence[Entry], names: Mapping[str, str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for column in ("", "client", "asked for", "server", "state"):
        table.add_column(column, overflow="fold")
    table.add_column("left", justify="right")
    table.add_column("director sees", overflow="fold")
    for entry in in_order(entries):
        table.add_row(*(Text(cell) for cell in _cells(entry, names)))
    return table


def _lines(entry: Entry, names: Mapping[str, str]) -> RenderableType:
    """Return an entry without columns: who talks to whom, and below what is known of it."""
    protocol, client, virtual, server, *known = _cells(entry, names)
    ends = Text(f"{protocol} {client} → {virtual} → {server}", overflow="fold")
    return Group(ends, Padding(Text(", ".join(filter(None, known))), (0, 0, 0, _INDENT)))


def _cells(entry: Entry, names: Mapping[str, str]) -> tuple[str, ...]:
    one = entry.connection
    cells = (
        one.protocol,
        named_end(one.client, one.client_port, names),
        named_end(one.virtual, one.virtual_port, names),
        named_end(one.destination, one.destination_port, names),
        one.state,
        f"{one.expires_s} s",
        _remark(entry),
    )
    return tuple(map(printable, cells))


def _remark(entry: Entry) -> str:
    parts = [entry.kind.value if entry.kind is not Kind.CONNECTION else entry.sees.value if entry.sees else UNKNOWN]
    if entry.origin is Origin.SYNC:
        parts.append("from synchronisation")
    if entry.connection.engine is not None:
        parts.append(f"{entry.connection.engine} {entry.connection.engine_data or ''}".rstrip())
    return ", ".join(parts)
