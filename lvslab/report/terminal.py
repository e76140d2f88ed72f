"""Results in the terminal: a table of the topologies, what went wrong and why, and one line that sums up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lvslab.report.console import make_console
from lvslab.report.evidence import facts
from lvslab.report.printable import printable
from lvslab.report.signs import ASCII_SIGNS, SIGNS, STYLES
from lvslab.verify.result import Result, TopologyResult, Verdict, titles

__all__ = ["make_console", "render"]

_NARROW = 60
"""Below this many columns the table keeps only what decides: topology, checks, verdict."""
_MOST_FRAMES = 12
_COUNTED = {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.ERROR: "in error", Verdict.SKIP: "skipped"}


def render(results: Iterable[TopologyResult], *, verbose: bool) -> RenderableType:
    """Return a renderable of `results`; `verbose` shows every expectation with its evidence."""
    return _Report(tuple(results), verbose)


@dataclass(frozen=True, slots=True)
class _Report:
    """Renders itself once the console is known: its width decides the table, its encoding the signs."""

    results: tuple[TopologyResult, ...]
    verbose: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        signs = ASCII_SIGNS if options.ascii_only else SIGNS
        if self.results:
            yield _table(self.results, signs, narrow=options.max_width < _NARROW)
            yield ""
        yield from (_all_blocks if self.verbose else _trouble)(self.results, signs)
        yield _summary(self.results)


def _table(results: Sequence[TopologyResult], signs: dict[Verdict, str], *, narrow: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("topology", overflow="fold")
    if not narrow:
        table.add_column("kernel", overflow="fold")
    table.add_column("checks")
    if not narrow:
        table.add_column("frames", justify="right")
        table.add_column("time", justify="right")
    table.add_column("verdict", no_wrap=True)
    for result, title in zip(results, titles(results), strict=True):
        name = Text(printable(title if narrow else result.topology))
        checks = _counts(expectation.verdict for expectation in result.expectations)
        verdict = _verdict(result.verdict, signs)
        if narrow:
            table.add_row(name, checks, verdict)
            continue
        kernel = printable(", ".join((result.where, result.backend)))
        seconds = f"{sum(result.seconds.values()):.1f} s"
        table.add_row(name, Text(kernel), checks, str(result.frames), seconds, verdict)
    return table


def _verdict(verdict: Verdict, signs: dict[Verdict, str]) -> Text:
    return Text(f"{signs[verdict]} {verdict.name}", style=STYLES[verdict])


def _counts(verdicts: Iterable[Verdict]) -> str:
    """Return "12 passed, 1 failed": the kinds that occur, in a fixed order."""
    counts = Counter(verdicts)
    return ", ".join(f"{counts[kind]} {word}" for kind, word in _COUNTED.items() if counts[kind]) or "none"


def _trouble(results: Sequence[TopologyResult], signs: dict[Verdict, str]) -> Iterator[RenderableType]:
    """Yield a block for each failure and error, then one line with the reason for each skip."""
    skipped = []
    for title, result in _judged(results):
        if result.verdict in (Verdict.FAIL, Verdict.ERROR):
            yield from _block(title, result, signs, most_frames=_MOST_FRAMES)
        elif result.verdict is Verdict.SKIP:
            skipped.append(_heading(title, result, signs).append(f": {printable(result.cause)}"))
    if skipped:
        yield from skipped
        yield ""


def _all_blocks(results: Sequence[TopologyResult], signs: dict[Verdict, str]) -> Iterator[RenderableType]:
    for result, title in zip(results, titles(results), strict=True):
        yield from _particulars(result, title)
        for expectation in result.expectations:
            yield from _block(title, expectation, signs, most_frames=None)


def _judged(results: Sequence[TopologyResult]) -> Iterator[tuple[str, Result]]:
    for result, title in zip(results, titles(results), strict=True):
        yield from ((title, expectation) for expectation in result.expectations)


def _particulars(result: TopologyResult, title: str) -> Iterator[RenderableType]:
    """Yield what was run and how long each phase took."""
    pairs = (
        ("params", ", ".join(f"{name}={value}" for name, value in result.params.items())),
        ("seconds", ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in result.seconds.items())),
    )
    yield Text(printable(title), style="bold")
    yield _pairs((label, printable(text)) for label, text in pairs if text)
    yield ""


def _block(
    title: str, result: Result, signs: dict[Verdict, str], *, most_frames: int | None
) -> Iterator[RenderableType]:
    yield _heading(title, result, signs)
    yield _pairs(facts(result, most_frames=most_frames))
    yield ""


def _heading(title: str, result: Result, signs: dict[Verdict, str]) -> Text:
    return _verdict(result.verdict, signs).append(printable(f" {title}: {result.name}"), style="bold")


def _pairs(pairs: Iterable[tuple[str, str]]) -> Padding:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in pairs:
        grid.add_row(label, Text(text))
    return Padding(grid, (0, 0, 0, 2))


def _summary(results: Sequence[TopologyResult]) -> Text:
    if not results:
        return Text("Nothing was judged.")
    topologies = _counts(result.verdict for result in results)
    checks = _counts(expectation.verdict for _, expectation in _judged(results))
    seconds = sum(sum(result.seconds.values()) for result in results)
    return Text(
        f"topologies: {topologies}; checks: {checks}; {seconds:.1f} s",
        style=STYLES[Verdict.of(result.verdict for result in results)],
    )
