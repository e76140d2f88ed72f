"""lvslab bench headline: what a cluster serves, by forwarding method and number of servers."""

from __future__ import annotations

import click

from lvslab.cli.bench.outputs import check_outputs_first, output_options, show
from lvslab.cli.options import FiniteRange, kernel_option, time_option

MOST_SERVERS = 32


@click.command("headline")
@kernel_option
@time_option
@click.option("--rate", metavar="RATE", default="4mbit", help="Of each card of the cluster; default 4mbit.")
@click.option("--servers", metavar="N", type=click.IntRange(2, MOST_SERVERS), default=10, help="At most; default 10.")
@click.option("--rounds", metavar="N", type=click.IntRange(1, 9), default=3, help="Medians of so many; default 3.")
@click.option("--seconds", metavar="S", type=FiniteRange(0.5, 10), default=2.0, help="Of each one; default 2.")
@click.option("--papers/--no-papers", default=True, help="The papers' own figures too, in virtual time.")
@output_options
def command(
    kernel: str | None,
    virtual_time: bool,
    rate: str,
    servers: int,
    rounds: int,
    seconds: float,
    papers: bool,
    json_path: str | None,
    svg_path: str | None,
) -> None:
    """Measure what VS/NAT, VS/DR and VS/TUN serve with 1 to N servers, every card of the cluster shaped.

    Then the papers' own figures (servers of 800 kB/s, a director with a card of 100 Mb/s), where there is a kernel
    with virtual time. About six minutes; with --time virtual about two, and exact.
    """
    from lvslab.bench.headline import Settings, run

    progress = check_outputs_first(json_path, svg_path)
    settings = Settings(kernel, virtual_time, rate, servers, rounds, seconds, papers)
    show(run(settings, progress.phase), json_path, svg_path)
