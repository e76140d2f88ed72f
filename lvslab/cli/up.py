"""lvslab up: a lab that stays."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lvslab.cli.lines import print_line
from lvslab.cli.options import (
    backend_option,
    complete_topology,
    kernel_option,
    memory_option,
    parameters,
    time_option,
    topology_options,
)


@click.command("up")
@click.argument("topology", metavar="NAME|FILE", shell_complete=complete_topology)
@click.option("--name", metavar="NAME", help="What to call the lab; default: as its topology.")
@kernel_option
@backend_option
@topology_options
@memory_option
@time_option
@click.option(
    "--share", metavar="FOLDER", help="Let the nodes write to this folder of yours; what they do there is done to it."
)
@click.option("-v", "--verbose", is_flag=True, help="Show progress line by line.")
def command(
    topology: str,
    name: str | None,
    kernel: str | None,
    backend: str,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    memory_mib: int,
    virtual_time: bool,
    share: str | None,
    verbose: bool,
) -> None:
    """Build a topology and leave it up. Returns when its network is there and its servers answer."""
    from lvslab import running
    from lvslab.report.progress import make_progress
    from lvslab.topology import load_topology

    model = load_topology(topology, params=parameters(settings), without=without)
    progress = make_progress(sys.stderr, verbose=verbose)
    record = running.up(
        model,
        name=name,
        kernel=kernel,
        backend=backend,
        memory_mib=memory_mib,
        virtual_time=virtual_time,
        share=None if share is None else Path(share),
        phase=progress.phase,
    )
    nodes = " ".join(node.name for node in model.nodes)
    print_line(f"{record.name} is up on {record.kernel} {record.release}: {nodes}")
    first = model.nodes[0].name
    print_line(
        f"next: lvslab shell {first} · lvslab exec {first} -- CMD · lvslab verify --lab {record.name} · "
        f"lvslab down {record.name}"
    )
