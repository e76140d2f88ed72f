"""Walks as text for the terminal: one row per hop, what changed marked with ``*`` and said in words below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from lvslab.capture.frame import Direction
from lvslab.report.printable import printable
from lvslab.walk import words
from lvslab.walk.changes import changes_between, describe
from lvslab.walk.model import Conversation, Endpoint, Hop, Names, Step, Unmatched, Walk
from lvslab.walk.names import address_name, mac_name
from lvslab.walk.words import Field

_MARK = "*"
_CHANGED_STYLE = "bold yellow"
_INDENT = 9
_NS_PER_MS = 1_000_000

_MAC_FIELDS = (Field.SOURCE_MAC, Field.DESTINATION_MAC)
_END_FIELDS = (Field.SOURCE, Field.DESTINATION)
_TTL_FIELDS = (Field.TTL, Field.INNER_TTL)


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """A hop as two lines: what it came from above, where it goes below."""

    upper: tuple[_Cell, ...]
    lower: tuple[_Cell, ...]


_HEADINGS = tuple(_Cell(text) for text in ("ms", "frame", "where", "MAC", "IP", "TTL"))
_RIGHT_ALIGNED = frozenset({0, 1})


def render_walks(walks: Conversation | Sequence[Walk], *, names: Names) -> RenderableType:
    """Return the walks, a row per hop, times in milliseconds from the first hop of them all."""
    titled = _with_roles(walks) if isinstance(walks, Conversation) else [("Packet", walk) for walk in walks]
    if not titled:
        return Text("no walks")
    start_ns = min(walk.origin.time_ns for _, walk in titled)
    tables = [_rows(walk.hops, names, start_ns) for _, walk in titled]
    widths = _widths(row for rows in tables for row in rows)
    return Group(
        *_joined(_walk(role, walk, rows, widths, names) for (role, walk), rows in zip(titled, tables, strict=True))
    )


def render_unmatched(unmatched: Sequence[Unmatched], *, names: Names) -> RenderableType:
    """Return the hops that belong to no walk, each with the reason."""
    if not unmatched:
        return Text("every frame belongs to a walk")
    start_ns = min(hop.time_ns for rest in unmatched for hop in (*rest.hops, *rest.overheard))
    tables = [_rows(rest.hops or rest.overheard, names, start_ns) for rest in unmatched]
    widths = _widths(row for rows in tables for row in rows)
    return Group(*_joined(_rest(rest, rows, widths, names) for rest, rows in zip(unmatched, tables, strict=True)))


def _joined(parts: Iterable[Iterable[RenderableType]]) -> Iterator[RenderableType]:
    """Yield the parts with an empty line between them."""
    for index, part in enumerate(parts):
        if index:
            yield Text()
        yield from part


def _with_roles(conversation: Conversation) -> list[tuple[str, Walk]]:
    parts = (("Request", conversation.requests), ("Reply", conversation.replies), ("Error", conversation.errors))
    titled = [(role, walk) for role, walks in parts for walk in walks]
    return sorted(titled, key=lambda pair: pair[1].origin.number)


def _walk(role: str, walk: Walk, rows: list[_Row], widths: tuple[int, ...], names: Names) -> Iterator[RenderableType]:
    yield Text(_title(role, walk.origin, names), style="bold")
    yield from _table(walk.hops, rows, widths, names)
    for end in walk.ends:
        if end.direction is Direction.OUT:
            yield _Note(f"not seen again after it left {end.where} (frame {end.number})")
    if walk.overheard:
        yield _Note("overheard at " + ", ".join(f"{hop.where} (frame {hop.number})" for hop in walk.overheard))


def _rest(rest: Unmatched, rows: list[_Row], widths: tuple[int, ...], names: Names) -> Iterator[RenderableType]:
    hops = rest.hops or rest.overheard
    yield Text(_title("Unmatched", hops[0], names), style="bold")
    yield from _table(hops, rows, widths, names)
    candidates = ", ".join(str(number) for number in rest.candidates)
    yield _Note(f"{rest.reason} (frames {candidates})" if candidates else rest.reason)


def _title(role: str, hop: Hop, names: Names) -> str:
    title = f"{role}: {words.packet_title(hop.packet, names)}"
    if hop.source and hop.destination:
        title += f", {hop.source} → {hop.destination}"
    return printable(title)


def _table(hops: tuple[Hop, ...], rows: list[_Row], widths: tuple[int, ...], names: Names) -> Iterator[RenderableType]:
    yield _line(_HEADINGS, widths, style="dim")
    by_number = {hop.number: hop for hop in hops}
    for hop, row in zip(hops, rows, strict=True):
        yield _line(row.upper, widths)
        yield _line(row.lower, widths)
        for tunnel in hop.packet.tunnels:
            yield _Note(f"outer header: {words.tunnel(tunnel)}, TTL {tunnel.ip.ttl}")
        before = by_number.get(hop.previous) if hop.previous is not None else None
        if before is not None and hop.step is not Step.CROSSED:
            yield _Note(describe(before, hop, names), style="italic")


@dataclass(frozen=True, slots=True)
class _Note:
    """Indented text, wrapped without trailing blanks, so that piped output stays clean."""

    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in Text(printable(self.text), style=self.style).wrap(console, max(options.max_width - _INDENT, 1)):
            line.rstrip()
            yield Text(" " * _INDENT) + line


def _rows(hops: tuple[Hop, ...], names: Names, start_ns: int) -> list[_Row]:
    by_number = {hop.number: hop for hop in hops}
    return [
        _row(hop, by_number.get(hop.previous) if hop.previous is not None else None, names, start_ns) for hop in hops
    ]


def _row(hop: Hop, before: Hop | None, names: Names, start_ns: int) -> _Row:
    changed = {change.field: change.old for change in changes_between(before, hop, names)} if before else {}
    ethernet, ip = hop.packet.ethernet, hop.packet.ip
    macs = (mac_name(names, ethernet.source), mac_name(names, ethernet.destination)) if ethernet else ("", "")
    ends = (_end(hop.source, names), _end(hop.destination, names))
    old_ttl = next((changed[field] for field in _TTL_FIELDS if field in changed), None)
    ttl = "" if ip is None else str(ip.ttl) if old_ttl is None else f"{old_ttl}→{ip.ttl}"
    upper = (
        _Cell(f"{(hop.time_ns - start_ns) / _NS_PER_MS:.3f}"),
        _Cell(str(hop.number)),
        _Cell(printable(f"{hop.where} {hop.direction}")),
        _Cell(printable(f"  {macs[0]}"), _MAC_FIELDS[0] in changed),
        _Cell(printable(f"  {ends[0]}"), _END_FIELDS[0] in changed),
        _Cell(ttl, old_ttl is not None),
    )
    lower = (
        *(_Cell(""),) * 3,
        _Cell(_arrow(macs[1]), _MAC_FIELDS[1] in changed),
        _Cell(_arrow(ends[1]), _END_FIELDS[1] in changed),
        _Cell(""),
    )
    return _Row(upper, lower)


def _arrow(text: str) -> str:
    return printable(f"→ {text}") if text else ""


def _end(end: Endpoint | None, names: Names) -> str:
    if end is None:
        return ""
    label = address_name(names, end.address)[len(end.address) :]
    return f"{end}{label}"


def _widths(rows: Iterable[_Row]) -> tuple[int, ...]:
    lines = [_HEADINGS, *(line for row in rows for line in (row.upper, row.lower))]
    return tuple(max(cell_len(line[column].text) for line in lines) for column in range(len(_HEADINGS)))


def _line(cells: tuple[_Cell, ...], widths: tuple[int, ...], style: str = "") -> Text:
    """Return cells side by side; the column between two holds the mark of a change in the right one."""
    line = Text(style=style)
    for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        fill = " " * (width - cell_len(cell.text))
        line.append(f" {_MARK}" if cell.changed else "  ", style=_CHANGED_STYLE if cell.changed else "")
        text = fill + cell.text if column in _RIGHT_ALIGNED else cell.text + fill
        line.append(text, style=_CHANGED_STYLE if cell.changed else "")
    line.rstrip()
    return line
