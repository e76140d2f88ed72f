"""lvslab export mininet."""

from __future__ import annotations

import click

from lvslab.cli.options import complete_topology, parameters, topology_options


@click.command("mininet")
@click.argument("name", metavar="NAME|FILE", shell_complete=complete_topology)
@click.option("-o", "--output", metavar="FILE", default="-", help="Write the script to a new FILE; default: stdout.")
@topology_options
def command(name: str, output: str, settings: tuple[str, ...], without: tuple[str, ...]) -> None:
    """Write a script for plain Mininet: the network as a Topo class, and each node's commands.

    Whoever runs it, as root, needs Mininet and a kernel with IPVS, and no lvslab.
    """
    from lvslab.exporting.mininet import mininet_script
    from lvslab.report.output import check_new, write_new
    from lvslab.topology import load_topology

    check_new(output)
    topology = load_topology(name, params=parameters(settings), without=without)
    write_new(output, mininet_script(topology).encode())
