"""lvslab lint: check topology files."""

from __future__ import annotations

import click

from lvslab.errors import BadInputs


@click.command("lint")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
def command(files: tuple[str, ...]) -> None:
    """Check topology files and say what is wrong, with file and line. Exit status 2 if anything is."""
    from lvslab.topology import lint

    faults = lint(files)
    if faults:
        raise BadInputs(faults)
    click.echo(f"{len(files)} checked, no faults")
