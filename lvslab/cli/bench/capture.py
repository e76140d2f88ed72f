"""lvslab bench capture: how many packets a second are recorded without loss."""

from __future__ import annotations

import click

from lvslab.cli.bench.outputs import check_outputs_first, output_options, show
from lvslab.cli.bench.sizes import Sizes
from lvslab.cli.options import kernel_option

MOST_PACKETS = 1_000_000


@click.command("capture")
@kernel_option
@click.option(
    "--rates",
    metavar="N,N",
    type=Sizes(MOST_PACKETS),
    default="250,500,1000,2000,4000,8000,16000",
    help="Packets a second; default 250 to 16000.",
)
@click.option("--rounds", metavar="N", type=click.IntRange(1, 9), default=3, help="Medians of so many; default 3.")
@output_options
def command(
    kernel: str | None, rates: tuple[int, ...], rounds: int, json_path: str | None, svg_path: str | None
) -> None:
    """Record the same floods by lvslab's rings, by tcpdump, and by scapy's sniffer."""
    from lvslab.bench.capture import Settings, run

    progress = check_outputs_first(json_path, svg_path)
    show(run(Settings(kernel, rates, rounds=rounds), progress.phase), json_path, svg_path)
