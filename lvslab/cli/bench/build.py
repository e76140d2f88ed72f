"""lvslab bench build: what building and removing a network costs, beside other ways."""

from __future__ import annotations

import click

from lvslab.cli.bench.outputs import check_outputs_first, output_options, show
from lvslab.cli.bench.sizes import Sizes
from lvslab.cli.options import kernel_option

MOST_SERVERS = 256


@click.command("build")
@kernel_option
@click.option(
    "--servers", "sizes", metavar="N,N", type=Sizes(MOST_SERVERS), default="4,16,64,256", help="Default 4,16,64,256."
)
@click.option("--rounds", metavar="N", type=click.IntRange(1, 9), default=3, help="Medians of so many; default 3.")
@click.option(
    "--mininet",
    "mininet_most",
    metavar="N",
    type=click.IntRange(0, MOST_SERVERS),
    default=4,
    help="Mininet too, with up to N servers (seconds for each in User-Mode Linux); default 4.",
)
@output_options
def command(
    kernel: str | None,
    sizes: tuple[int, ...],
    rounds: int,
    mininet_most: int,
    json_path: str | None,
    svg_path: str | None,
) -> None:
    """Build and remove the same networks by lvslab, by ip -batch, by Mininet, and as barely as can be."""
    from lvslab.bench.build import Settings, run

    progress = check_outputs_first(json_path, svg_path)
    show(run(Settings(kernel, sizes, rounds, mininet_most), progress.phase), json_path, svg_path)
