"""lvslab save: a director's table as text."""

from __future__ import annotations

import click

from lvslab.cli.lines import print_aside
from lvslab.cli.options import complete_node, lab_option


@click.command("save")
@lab_option
@click.argument("director", required=False, shell_complete=complete_node)
def command(lab: str | None, director: str | None) -> None:
    """Print a director's table as ipvsadm-restore reads it.

    Unlike ipvsadm-save it keeps thresholds and the order in which servers were added; what ipvsadm-save would have
    lost is said on standard error.
    """
    from lvslab.ipvs.intent import from_kernel
    from lvslab.ipvs.text import lost_by_saving, saved_text
    from lvslab.report.output import STDOUT, write_output
    from lvslab.running import attached, find_lab

    record = find_lab(lab)
    directors = [node.name for node in record.nodes if node.role == "director"]
    with attached(record) as running:
        entries = running.ipvs(_one_of(directors, director, record.name)).services()
    table = tuple(map(from_kernel, entries))
    for text in lost_by_saving(table):
        print_aside(f"ipvsadm-save would lose: {text}")
    write_output(STDOUT, saved_text(table).encode())


def _one_of(directors: list[str], asked: str | None, lab: str) -> str:
    from lvslab.errors import BadInput

    if asked is None and len(directors) == 1:
        return directors[0]
    if asked in directors:
        return str(asked)
    expected = f"one of {', '.join(directors)}" if directors else "a lab with a director"
    raise BadInput("which director?", where=lab, expected=expected, found=asked or "none named")
