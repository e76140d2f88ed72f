"""A walk's hops as rows of cells: which fields to show, in what words, and which of them changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from lvslab.capture.frame import Frame
from lvslab.capture.packet import Endpoint, Tunnel
from lvslab.report.printable import printable
from lvslab.walk.changes import changes_between, describe
from lvslab.walk.model import Hop, Names, Step
from lvslab.walk.names import mac_name
from lvslab.walk.phrases import Language, Phrases, phrases
from lvslab.walk.words import Field

_MARK = "*"
_NUMBERS_SHOWN = 2
_NS_PER_MS = 1_000_000
_TTL_FIELDS = (Field.TTL, Field.INNER_TTL)


class Detail(Enum):
    """How much a row says, most first."""

    TIME_AND_NUMBERS = "the time, and addresses as numbers"
    TIME = "the time, and addresses by their terms"
    TERMS = "addresses by their terms"


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A hop, or the packet inside the tunnel header of the row above. Columns go by their English names."""

    cells: dict[str, Cell]
    headings: dict[str, str]
    nested: bool = False
    """Inside the header of the row above."""
    sentence: str = ""
    """What the node did."""


def rows_of(hops: tuple[Hop, ...], names: Names, detail: Detail, start_ns: int, language: Language) -> list[Row]:
    """Return the rows of one walk, times counted from `start_ns`."""
    table = _Table(names, detail, start_ns, language)
    by_number = {hop.number: hop for hop in hops}
    rows: list[Row] = []
    for hop in hops:
        before = by_number.get(hop.previous) if hop.previous is not None else None
        rows += table.rows(hop, before)
    return rows


@dataclass(frozen=True, slots=True)
class _Table:
    names: Names
    detail: Detail
    start_ns: int
    language: Language

    def rows(self, hop: Hop, before: Hop | None) -> Iterator[Row]:
        """Yield one row per IP header, outermost first, and what the node did with the last."""
        changed = {c.field: c.old for c in changes_between(before, hop, self.names)} if before else {}
        sentence = ""
        if before is not None and hop.step is not Step.CROSSED:
            sentence = describe(before, hop, self.names, self.language)
        headers = [*(self._tunnel(tunnel, changed) for tunnel in hop.packet.tunnels), self._innermost(hop, changed)]
        for depth, (ends, ttl) in enumerate(headers):
            first, last = depth == 0, depth == len(headers) - 1
            nested = Cell(f"{'└ ' if depth else ''}{ends.text}", ends.changed)
            yield self._row(hop, changed, nested, ttl, first=first, sentence=sentence if last else "")

    def _row(self, hop: Hop, changed: dict[Field, str], ends: Cell, ttl: Cell, *, first: bool, sentence: str) -> Row:
        say = phrases(self.language)
        where = f"{hop.where} {say.word(hop.direction)}"
        cells = {
            "frame": Cell(_numbers(hop.frame) if first else ""),
            "where": Cell(printable(where) if first else ""),
            "MAC": self._macs(hop, changed) if first else Cell(""),
            "IP": ends,
            "TTL": ttl,
        }
        if self.detail is not Detail.TERMS:
            elapsed = f"{(hop.time_ns - self.start_ns) / _NS_PER_MS:.3f}"
            cells = {"ms": Cell(elapsed if first else ""), **cells}
        return Row(cells, {column: say.word(column) for column in cells}, not first, sentence)

    def _macs(self, hop: Hop, changed: dict[Field, str]) -> Cell:
        ethernet = hop.packet.ethernet
        if ethernet is None:
            return Cell("")
        say = phrases(self.language)
        source, destination = (self._mac(mac, say) for mac in (ethernet.source, ethernet.destination))
        return _pair(source, destination, Field.SOURCE_MAC in changed, Field.DESTINATION_MAC in changed)

    def _mac(self, mac: str, say: Phrases) -> str:
        name = mac_name(self.names, mac)
        return say.word(name) if name == "broadcast" else name

    def _tunnel(self, tunnel: Tunnel, changed: dict[Field, str]) -> tuple[Cell, Cell]:
        ports = tunnel.udp_ports or (None, None)
        ends = (Endpoint(tunnel.ip.source, ports[0]), Endpoint(tunnel.ip.destination, ports[1]))
        new = Field.OUTER_HEADER in changed
        mark = _MARK if new else " "
        text = f"{mark}{self._end(ends[0])} → {self._end(ends[1])} {tunnel.kind}"
        return Cell(printable(text), new), _ttl(tunnel.ip.ttl, changed.get(Field.OUTER_TTL))

    def _innermost(self, hop: Hop, changed: dict[Field, str]) -> tuple[Cell, Cell]:
        packet = hop.packet
        if packet.ip is None or packet.source is None or packet.destination is None:
            return Cell(""), Cell("")
        source, destination = self._end(packet.source), self._end(packet.destination)
        old_ttl = next((changed[field] for field in _TTL_FIELDS if field in changed), None)
        ends = _pair(source, destination, Field.SOURCE in changed, Field.DESTINATION in changed)
        return ends, _ttl(packet.ip.ttl, old_ttl)

    def _end(self, end: Endpoint) -> str:
        term = self.names.terms.get(end.address)
        if term is None or self.detail is Detail.TIME_AND_NUMBERS:
            return str(end)
        return term if end.port is None else f"{term}:{end.port}"


def _numbers(frame: Frame) -> str:
    """Return ``5``, or ``5+6`` of a packet in fragments."""
    numbers = [str(each.number) for each in frame.fragments] or [str(frame.number)]
    return "+".join(numbers) if len(numbers) <= _NUMBERS_SHOWN else f"{numbers[0]}…{numbers[-1]}"


def _pair(source: str, destination: str, source_changed: bool, destination_changed: bool) -> Cell:
    marks = (_MARK if source_changed else " ", _MARK if destination_changed else "")
    text = f"{marks[0]}{source} → {marks[1]}{destination}"
    return Cell(printable(text), source_changed or destination_changed)


def _ttl(ttl: int, old: str | None) -> Cell:
    return Cell(f" {ttl}") if old is None else Cell(f"{_MARK}{old}→{ttl}", True)
