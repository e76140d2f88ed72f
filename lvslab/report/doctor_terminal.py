"""What `lvslab doctor` shows: facts, and the cure for what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from lvslab.kernels.probe import Finding
from lvslab.report.printable import printable

_SIGNS = {True: "✓", False: "–"}
_ASCII_SIGNS = {True: "+", False: "-"}


def render_findings(findings: Sequence[Finding], chosen: Finding) -> RenderableType:
    """Return a renderable of the findings, and last which kernel a lab would run on."""
    return _Report(tuple(findings), chosen)


@dataclass(frozen=True, slots=True)
class _Report:
    findings: tuple[Finding, ...]
    chosen: Finding

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        signs = _ASCII_SIGNS if options.ascii_only else _SIGNS
        table = Table.grid(padding=(0, 2))
        for finding in self.findings:
            table.add_row(signs[finding.ok], printable(finding.name), _found(finding))
        yield table
        yield ""
        yield from _conclusion(self.chosen)


def _found(finding: Finding) -> Text:
    text = printable(finding.found)
    return Text(f"{text}; {printable(finding.cure)}" if finding.cure else text)


def _conclusion(chosen: Finding) -> Iterator[RenderableType]:
    if chosen.ok:
        yield Text(f"A lab runs on: {chosen.found}")
    else:
        yield Text(f"No lab can run here: {printable(chosen.found)}")
        yield Text(f"Cure: {printable(chosen.cure)}")
