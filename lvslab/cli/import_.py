"""lvslab import: a topology out of a director's configuration."""

from __future__ import annotations

from pathlib import Path

import click

from lvslab.errors import BadInputs


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option("-o", "--output", metavar="FILE", default="-", help="Write the topology to FILE; default: stdout.")
def command(file: str, output: str) -> None:
    """Make a topology of what ipvsadm-save -n or ipvsadm -Ln printed, or of a keepalived.conf.

    The network that such a file does not tell is invented; what was assumed and what was left out is said in the
    topology's comments and on standard error. A configuration that lint finds fault with is refused.
    """
    from lvslab.importing import read_configuration, recognise, topology_text
    from lvslab.importing.lint import verdict
    from lvslab.report.output import check_output, write_output
    from lvslab.topology.source import read_source

    check_output(output)
    text = read_source(Path(file), "the director's configuration")
    configuration = read_configuration(text, file, recognise(text))
    faults, warnings = verdict(configuration)
    if faults:
        raise BadInputs(faults)
    topology, notes = topology_text(configuration)
    for line in (*(warning.as_line() for warning in warnings), *(f"{file}: {note}" for note in notes)):
        click.echo(f"lvslab: {line}", err=True)
    write_output(output, topology.encode())
