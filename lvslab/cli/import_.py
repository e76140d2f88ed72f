"""lvslab import: a topology out of a director's configuration, or out of a Mininet Topo class."""

from __future__ import annotations

import re
from pathlib import Path

import click

from lvslab.cli.lines import print_aside
from lvslab.cli.options import refuse_beside
from lvslab.errors import BadInput, BadInputs

ROLES = ("client", "router", "director", "real-server")
METHODS = ("nat", "dr", "tun")
_TOPO = re.compile(r"(?P<path>.+\.py):(?P<name>\w+)")
OF_A_TOPO = ("roles", "vip", "port", "method", "scheduler")


@click.command("import")
@click.argument("file", metavar="FILE|FILE.py:TOPO")
@click.option("-o", "--output", metavar="FILE", default="-", help="Write the topology to a new FILE; default: stdout.")
@click.option(
    "--role",
    "roles",
    metavar="ROLE=HOST,...",
    multiple=True,
    help=f"Of a Topo: hosts of a role ({', '.join(ROLES)}), * for any letters. Hosts of no role are left out.",
)
@click.option("--vip", metavar="ADDRESS", help="Of a Topo: the service's address, on a network of the director.")
@click.option("--port", type=click.IntRange(1, 65535), default=80, help="Of a Topo: the service's port; default: 80.")
@click.option("--method", type=click.Choice(METHODS), default="nat", help="Of a Topo: forwarding; default: nat.")
@click.option("--scheduler", metavar="NAME", default="rr", help="Of a Topo: the service's scheduler; default: rr.")
def command(
    file: str, output: str, roles: tuple[str, ...], vip: str | None, port: int, method: str, scheduler: str
) -> None:
    """Make a topology of what ipvsadm-save -n or ipvsadm -Ln printed, of a keepalived.conf, or of a Mininet Topo.

    The network that a director's configuration does not tell is invented; of a Topo, which tells nothing else, the
    roles of hosts and the service are to be named. What was assumed and what was left out is said in the topology's
    comments and on standard error. A configuration that lint finds fault with is refused. FILE.py is run.
    """
    from lvslab.report.output import check_new, write_new

    check_new(output)
    topo = _TOPO.fullmatch(file)
    if topo is None:
        refuse_beside(file, "a director's configuration has a service", *OF_A_TOPO)
        text, notes = _of_configuration(file)
    else:
        text, notes = _of_topo(Path(topo["path"]), topo["name"], roles, vip, port, method, scheduler)
    for line in notes:
        print_aside(line)
    write_new(output, text.encode())


def _of_configuration(file: str) -> tuple[str, list[str]]:
    from lvslab.importing import read_configuration, recognise, topology_text
    from lvslab.importing.lint import verdict
    from lvslab.topology.source import read_source

    text = read_source(Path(file), "the director's configuration")
    configuration = read_configuration(text, file, recognise(text))
    faults, warnings = verdict(configuration)
    if faults:
        raise BadInputs(faults)
    topology, notes = topology_text(configuration)
    return topology, [*(warning.as_line() for warning in warnings), *(f"{file}: {note}" for note in notes)]


def _of_topo(
    path: Path, name: str, roles: tuple[str, ...], vip: str | None, port: int, method: str, scheduler: str
) -> tuple[str, list[str]]:
    from lvslab.importing.mininet_topo import Service, topo_text
    from lvslab.mininet.topo import read_topo
    from lvslab.topology import load_text

    if vip is None:
        raise BadInput("a Topo has no service", where=f"{path}:{name}", expected="--vip", next_step="see import --help")
    topo = read_topo(path, name)
    text, notes = topo_text(topo, _named(roles), Service(vip, port, method, scheduler))
    # What makes no sense is said at once, by the lines of what would be written.
    load_text(text, f"{name} as a topology")
    return text, [f"{topo.source}: {note}" for note in notes]


def _named(roles: tuple[str, ...]) -> dict[str, list[str]]:
    """Return --role options as patterns by role. Raises BadInput."""
    found: dict[str, list[str]] = {}
    for text in roles:
        role, _, hosts = text.partition("=")
        if role not in ROLES or not hosts:
            expected = f"ROLE=HOST with {', '.join(ROLES)}"
            raise BadInput("no role of hosts", where=f"--role {text}", expected=expected, found=text)
        found.setdefault(role, []).extend(hosts.split(","))
    return found
