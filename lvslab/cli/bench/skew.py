"""lvslab bench skew: how evenly servers are loaded by round-robin DNS and by IPVS."""

from __future__ import annotations

import click

from lvslab.cli.bench.outputs import check_outputs_first, output_options, show
from lvslab.cli.options import kernel_option


@click.command("skew")
@kernel_option
@click.option(
    "--time",
    "clock",
    type=click.Choice(["real", "virtual"]),
    help="Virtual: a whole hour; real: an hour in a minute. Default: virtual if there is a kernel for it.",
)
@click.option("--servers", metavar="N", type=click.IntRange(2, 60), default=8, help="Real servers; default 8.")
@click.option("--sessions", metavar="N", type=click.IntRange(10, 5000), default=400, help="In the hour; default 400.")
@click.option("--resolvers", metavar="N", type=click.IntRange(1, 20), default=3, help="That users share; default 3.")
@click.option("--ttl", "ttl_s", metavar="S", type=click.IntRange(1, 3600), default=60, help="Of the name; default 60.")
@click.option("--seed", metavar="N", type=int, default=1, help="The same seed draws the same sessions; default 1.")
@output_options
def command(
    kernel: str | None,
    clock: str | None,
    servers: int,
    sessions: int,
    resolvers: int,
    ttl_s: int,
    seed: int,
    json_path: str | None,
    svg_path: str | None,
) -> None:
    """Play the same bursty sessions by IPVS rr, and by round-robin DNS with TTL 0 and with a TTL.

    Users ask caching resolvers, and keep the address they got for a session's requests. Each request is a connection.
    """
    from lvslab.bench.skew import Settings, run
    from lvslab.kernels.choose import kernel_with_virtual_time

    progress = check_outputs_first(json_path, svg_path)
    virtual = clock == "virtual" or (clock is None and kernel_with_virtual_time(kernel) is not None)
    settings = Settings(kernel, virtual, servers, sessions, resolvers, ttl_s, seed)
    show(run(settings, progress.phase), json_path, svg_path)
