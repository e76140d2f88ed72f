"""lvslab bench verdict: from the command to the verdict."""

from __future__ import annotations

import click

from lvslab.cli.bench.outputs import check_outputs_first, output_options, show
from lvslab.cli.options import kernels_option


@click.command("verdict")
@kernels_option
@click.option("--rounds", metavar="N", type=click.IntRange(1, 50), default=5, help="Medians of so many; default 5.")
@output_options
def command(kernels: tuple[str, ...], rounds: int, json_path: str | None, svg_path: str | None) -> None:
    """Time lvslab verify dr, whole and by phase, on each kernel that is here."""
    from lvslab.bench.verdict import Settings, run

    progress = check_outputs_first(json_path, svg_path)
    show(run(Settings(kernels, rounds=rounds), progress.phase), json_path, svg_path)
