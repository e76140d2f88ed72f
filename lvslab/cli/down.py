"""lvslab down: end labs."""

from __future__ import annotations

import click

from lvslab.cli.options import complete_lab


@click.command("down")
@click.argument("name", metavar="[NAME]", required=False, shell_complete=complete_lab)
@click.option("--all", "everything", is_flag=True, help="End every lab that is up.")
def command(name: str | None, everything: bool) -> None:
    """End a lab, and everything in it. Without NAME: the only one that is up."""
    from lvslab.kernels.attach import find_lab, running_labs, stop

    if everything and name is not None:
        raise click.UsageError("Give NAME or --all, not both.")
    records = running_labs() if everything else (find_lab(name),)
    for record in records:
        stop(record)
        click.echo(f"{record.name} is down")
