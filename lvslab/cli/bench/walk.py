"""lvslab bench walk: how fast frames are joined into walks."""

from __future__ import annotations

import click

from lvslab.cli.bench.outputs import check_outputs_first, output_options, show
from lvslab.cli.bench.sizes import Sizes

MOST_FRAMES = 10_000_000


@click.command("walk")
@click.option(
    "--frames",
    "sizes",
    metavar="N,N",
    type=Sizes(MOST_FRAMES),
    default="10000,100000,1000000",
    help="Default 10000,100000,1000000; a million take 2 GB or more.",
)
@click.option("--rounds", metavar="N", type=click.IntRange(1, 9), default=3, help="Medians of so many; default 3.")
@output_options
def command(sizes: tuple[int, ...], rounds: int, json_path: str | None, svg_path: str | None) -> None:
    """Join captures of growing length into walks; no kernel is needed."""
    from lvslab.bench.walk import Settings, run

    progress = check_outputs_first(json_path, svg_path)
    show(run(Settings(sizes, rounds), progress.phase), json_path, svg_path)
