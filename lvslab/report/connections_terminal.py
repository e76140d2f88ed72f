"""A director's connection table: a row for each entry, addresses by the names of their nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lvslab.ipvs.entries import Entry, Kind, Origin
from lvslab.report.entry_words import named_end
from lvslab.report.printable import printable

UNKNOWN = "-"


def render_connections(director: str, entries: Sequence[Entry], names: Mapping[str, str]) -> RenderableType:
    """Return a title and the entries, each client's together."""
    title = Text(f"{director}: {len(entries)} {'entry' if len(entries) == 1 else 'entries'}")
    return Group(title, _table(entries, names)) if entries else title


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
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _remark(entry: Entry) -> str:
    parts = [entry.kind.value if entry.kind is not Kind.CONNECTION else entry.sees.value if entry.sees else UNKNOWN]
    if entry.origin is Origin.SYNC:
        parts.append("from synchronisation")
    if entry.connection.engine is not None:
        parts.append(f"{entry.connection.engine} {entry.connection.engine_data or ''}".rstrip())
    return ", ".join(parts)
