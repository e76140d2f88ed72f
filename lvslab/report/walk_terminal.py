"""Walks as text for the terminal: a line per hop, what changed marked with ``*`` and said in words underneath.

Addresses go by the papers' terms (CIP, VIP, RIP1), explained once above. The more columns there are, the more each
line says; where not even the shortest fits, a hop has its fields below each other, and only those that changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from lvslab.report.printable import printable
from lvslab.report.walk_parts import (
    Part,
    address_key,
    conversation_parts,
    packet_parts,
    part_title,
    unmatched_parts,
    without_receivers,
)
from lvslab.report.walk_rows import Cell, Detail, Row, rows_of
from lvslab.walk.model import Conversation, Names, Unmatched, Walk
from lvslab.walk.phrases import Language, phrases

_CHANGED_STYLE = "bold yellow"
_INDENT = 7
_COLUMN_GAP = "  "
_RIGHT_ALIGNED = frozenset({"ms", "frame"})


def render_walks(
    walks: Conversation | Sequence[Walk],
    *,
    names: Names,
    arp: Sequence[Walk] = (),
    language: Language = Language.ENGLISH,
) -> RenderableType:
    """Return the walks, times in milliseconds from the first hop of them all; `arp` walks come first."""
    notes: tuple[str, ...] = ()
    if isinstance(walks, Conversation):
        parts, notes = conversation_parts(walks, language)
    else:
        parts = packet_parts(walks, language)
    parts.sort(key=lambda part: part.hops[0].number)
    parts[:0] = packet_parts(arp, language, role="")
    return _Walks(tuple(parts), notes, names, language) if parts else Text(phrases(language).no_walks)


def render_unmatched(
    unmatched: Sequence[Unmatched], *, names: Names, language: Language = Language.ENGLISH
) -> RenderableType:
    """Return the hops that belong to no walk, each with the reason."""
    if not unmatched:
        return Text(phrases(language).all_matched)
    return _Walks(tuple(unmatched_parts(unmatched, language)), (), names, language)


@dataclass(frozen=True, slots=True)
class _Walks:
    """Renders itself once the console's width is known."""

    parts: tuple[Part, ...]
    notes: tuple[str, ...]
    names: Names
    language: Language

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        legend = address_key((hop for part in self.parts for hop in part.hops), self.names)
        if legend:
            yield from _unbroken(legend, options.max_width)
            yield Text()
        detail, tables = self._that_fits(options.max_width)
        for index, (part, rows) in enumerate(zip(self.parts, tables, strict=True)):
            if index:
                yield Text()
            yield _Note(part_title(part, self.names, self.language), indent=0, style="bold")
            if detail is None:
                yield from _stacked(rows)
            else:
                yield from _table(rows, _widths(row for table in tables for row in table))
            for note in part.notes:
                yield _Note(note, indent=_INDENT)
        for note in self.notes:
            yield Text()
            yield _Note(note, indent=0, style="bold")

    def _that_fits(self, width: int) -> tuple[Detail | None, list[list[Row]]]:
        """Return the rows with as much detail as the width allows; None if they cannot stand side by side."""
        for detail in Detail:
            tables = self._tables(detail)
            if _total(_widths(row for table in tables for row in table)) <= width:
                return detail, tables
        return None, self._tables(Detail.TERMS)

    def _tables(self, detail: Detail) -> list[list[Row]]:
        start_ns = min(part.hops[0].time_ns for part in self.parts)
        return [
            rows_of(without_receivers(part.hops), self.names, detail, start_ns, self.language) for part in self.parts
        ]


def _unbroken(entries: Iterable[str], width: int) -> Iterator[RenderableType]:
    """Yield lines of as many entries as fit, none of them split."""
    line = ""
    for entry in entries:
        if line and cell_len(f"{line}, {entry}") > width:
            yield Text(printable(line), style="dim")
            line = ""
        line = f"{line}, {entry}" if line else entry
    yield Text(printable(line), style="dim")


def _widths(rows: Iterable[Row]) -> dict[str, int]:
    """Return the width of each column, the heading's included."""
    widths: dict[str, int] = {}
    for row in rows:
        for column, cell in row.cells.items():
            widths[column] = max(widths.get(column, cell_len(column)), cell_len(cell.text))
    return widths


def _total(widths: dict[str, int]) -> int:
    return sum(widths.values()) + len(_COLUMN_GAP) * (len(widths) - 1)


def _table(rows: list[Row], widths: dict[str, int]) -> Iterator[RenderableType]:
    columns = {column: width for column, width in widths.items() if any(row.cells[column].text for row in rows)}
    yield _line({column: Cell(rows[0].headings[column]) for column in columns}, columns, style="dim")
    for row in rows:
        yield _line(row.cells, columns)
        if row.sentence:
            yield _Note(row.sentence, indent=_INDENT, style="italic")


def _line(cells: dict[str, Cell], widths: dict[str, int], style: str = "") -> Text:
    line = Text(style=style)
    for column, width in widths.items():
        cell = cells[column]
        fill = " " * (width - cell_len(cell.text))
        text = fill + cell.text if column in _RIGHT_ALIGNED else cell.text + fill
        line.append(_COLUMN_GAP if line else "")
        line.append(text, style=_CHANGED_STYLE if cell.changed else "")
    line.rstrip()
    return line


def _stacked(rows: list[Row]) -> Iterator[RenderableType]:
    """Yield each hop as a line, and below it the fields that changed; the first has them all."""
    for index, row in enumerate(rows):
        if not row.nested:
            yield _Note(f"{row.cells['frame'].text:>5}  {row.cells['where'].text}", indent=0)
        for column in ("MAC", "IP", "TTL"):
            cell = row.cells[column]
            if cell.changed or (index == 0 and cell.text):
                yield _Note(f"{column:<3} {cell.text}", indent=_INDENT, style=_CHANGED_STYLE if cell.changed else "")
        if row.sentence:
            yield _Note(row.sentence, indent=_INDENT, style="italic")


@dataclass(frozen=True, slots=True)
class _Note:
    """Indented text, wrapped without trailing blanks, so that piped output stays clean."""

    text: str
    indent: int
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in Text(printable(self.text), style=self.style).wrap(console, max(options.max_width - self.indent, 1)):
            line.rstrip()
            yield Text(" " * self.indent) + line
