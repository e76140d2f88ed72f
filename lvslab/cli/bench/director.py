"""lvslab bench director: what a packet costs a director, and a node in memory."""

from __future__ import annotations

import click

from lvslab.cli.bench.outputs import check_outputs_first, output_options, show
from lvslab.cli.options import kernel_option


@click.command("director")
@kernel_option
@click.option(
    "--packets", metavar="N", type=click.IntRange(100, 1_000_000), default=20_000, help="A reading; default 20000."
)
@click.option("--rounds", metavar="N", type=click.IntRange(1, 50), default=5, help="Medians of so many; default 5.")
@click.option("--servers", metavar="N", type=click.IntRange(1, 256), default=256, help="Behind one; default 256.")
@output_options
def command(
    kernel: str | None, packets: int, rounds: int, servers: int, json_path: str | None, svg_path: str | None
) -> None:
    """Send datagrams one way through a director by each method, and verify a large cluster."""
    from lvslab.bench.director import Settings, run

    progress = check_outputs_first(json_path, svg_path)
    show(run(Settings(kernel, packets, rounds, servers), progress.phase), json_path, svg_path)
