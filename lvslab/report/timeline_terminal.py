"""One connection's packets at its director and the changes of its entry, line by line in order of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lvslab.ipvs.watched import WatchedTable
from lvslab.lab import WatchedConnection
from lvslab.report.entry_words import change_in_words, named_end
from lvslab.report.printable import printable
from lvslab.walk.model import Names
from lvslab.walk.timeline import EntryChange, Event, Passing
from lvslab.walk.words import packet_title

_NS_PER_MS = 1_000_000
_CHANGE_STYLE = "bold"
_INDENT = "    "


def render_timeline(watched: WatchedConnection) -> RenderableType:
    """Return a title, the time line, and how often the table was read."""
    return Group(Text(_title(watched)), _table(watched), *map(Text, _notes(watched)))


def _title(watched: WatchedConnection) -> str:
    service, names = watched.service, watched.walks.names.labels
    client = named_end(watched.client, watched.outcome.client_port, names)
    vip = named_end(service.vip, service.port, names)
    what = f"{service.protocol.value.upper()} {client} → {vip} at {service.director}"
    if not any(isinstance(event, Passing) for event in watched.events):
        return f"{what}, {service.method.value}: no packet of it came there"
    return f"{what}, {service.method.value}: it sees {watched.sees.value}"


def _table(watched: WatchedConnection) -> Table:
    names = watched.walks.names
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("ms", justify="right", no_wrap=True)
    table.add_column("frame", justify="right")
    table.add_column(f"at {watched.service.director}", overflow="fold")
    start_ns = _start_ns(watched.events)
    for event in watched.events:
        if isinstance(event, Passing):
            table.add_row(_ms(event.time_ns, start_ns), str(event.first.number), Text(printable(_packet(event, names))))
        else:
            change = event.change
            period = f"{_ms(change.since_ns, start_ns)}…{_ms(change.seen_ns, start_ns)}"
            table.add_row(period, _frames(event), Text(_change(event, names.labels), style=_CHANGE_STYLE))
    return table


def _start_ns(events: Sequence[Event]) -> int:
    return next((event.time_ns for event in events if isinstance(event, Passing)), 0) or min(
        (event.time_ns for event in events), default=0
    )


def _ms(time_ns: int, start_ns: int) -> str:
    return f"{(time_ns - start_ns) / _NS_PER_MS:.1f}"


def _packet(passing: Passing, names: Names) -> str:
    return f"{'←' if passing.is_reply else '→'} {packet_title(passing.first.packet, names)}"


def _frames(event: EntryChange) -> str:
    return " or ".join(str(passing.first.number) for passing in event.candidates) or "-"


def _change(event: EntryChange, names: Mapping[str, str]) -> str:
    before, after = event.change.before, event.change.after
    words = printable(f"{_INDENT}{change_in_words(before, after, names)}")
    if event.candidates:
        return words
    return f"{words}: its time was over" if after is None else f"{words}; no packet of that time was captured"


def _notes(watched: WatchedConnection) -> Iterator[str]:
    if not watched.outcome.ok:
        yield f"The client's call came to nothing: {watched.outcome.status}."
    if not any(isinstance(event, EntryChange) for event in watched.events):
        yield "No reading of the table had an entry of this connection."
        return
    yield _readings(watched.table)


def _readings(table: WatchedTable) -> str:
    gap_ms = table.longest_gap_ns / _NS_PER_MS
    return (
        f"The table was read {table.readings} times, at most {gap_ms:.1f} ms apart; a change happened between the two "
        "readings whose times stand beside it, and the packets between them are those that may have made it. What is "
        "left the kernel rounds down to seconds."
    )
