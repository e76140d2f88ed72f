"""A benchmark in the terminal: for each part a table, and what its numbers say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lvslab.bench.everything import Outcome
from lvslab.bench.result import Benchmark, Column, Part, Ratio, Value
from lvslab.report.printable import printable


def render_benchmark(benchmark: Benchmark) -> RenderableType:
    return Group(*_lines(benchmark))


def clock(part: Part) -> str:
    """Return what a part's seconds are: in virtual time the processor is infinitely fast."""
    return "simulated (virtual) time" if part.virtual_time else "real time"


def _lines(benchmark: Benchmark) -> Iterator[RenderableType]:
    yield Text(printable(benchmark.title), style="bold")
    for part in benchmark.parts:
        yield ""
        yield Text(printable(part.title), style="bold")
        yield Text(printable(f"{part.kernel}, {clock(part)}"), style="dim")
        yield _table(part)
        if part.ratios:
            yield ""
            yield render_ratios(part.ratios)
            yield ""
        for fact in part.facts:
            yield Text(printable(fact))
    for note in benchmark.notes:
        yield ""
        yield Text(printable(note))


def _table(part: Part) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for place, column in enumerate(part.columns):
        numbers = all(not isinstance(row[place], str) for row in part.rows)
        table.add_column(column.heading, justify="right" if numbers else "left", overflow="fold")
    for row in part.rows:
        table.add_row(*(Text(shown(value, column)) for value, column in zip(row, part.columns, strict=True)))
    return table


def render_all(outcome: Outcome) -> RenderableType:
    """Return one table of all ratios, and the notes of all benchmarks."""
    ratios = [ratio for benchmark in outcome.benchmarks for part in benchmark.parts for ratio in part.ratios]
    notes = [note for benchmark in outcome.benchmarks for note in benchmark.notes]
    told = (
        f"{outcome.seconds:.0f} s on {outcome.processors} processors, "
        f"load {outcome.load_before:.1f} before and {outcome.load_after:.1f} after."
    )
    return Group(render_ratios(ratios), "", *(Text(printable(line)) for line in (told, *notes)))


def render_ratios(ratios: Iterable[Ratio]) -> Table:
    """Return the table of what was aimed at; what is missed is marked by a sign, too."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("ratio", overflow="fold")
    table.add_column("value", justify="right")
    table.add_column("aim")
    table.add_column("")
    for ratio in ratios:
        table.add_row(Text(printable(ratio.text)), f"{ratio.value:.3g}", ratio.aim, MET[ratio.met])
    return table


MET = {True: Text("✓", style="green"), False: Text("✗ missed", style="red"), None: Text("")}


def shown(value: Value, column: Column) -> str:
    return printable(value) if isinstance(value, str) else f"{value:.{column.decimals}f}"
