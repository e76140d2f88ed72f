"""lvslab down: end labs."""

from __future__ import annotations

import click

from lvslab.cli.lines import print_line
from lvslab.cli.options import complete_lab


@click.command("down")
@click.argument("name", metavar="[NAME]", required=False, shell_complete=complete_lab)
@click.option("--all", "everything", is_flag=True, help="End every lab.")
def command(name: str | None, everything: bool) -> None:
    """End a lab, and everything in it; it may be coming up still. Without NAME: the only one there is."""
    from lvslab.kernels.attach import find_lab_to_stop, labs, stop

    if everything and name is not None:
        raise click.UsageError("Give NAME or --all, not both.")
    records = labs() if everything else (find_lab_to_stop(name),)
    for record in records:
        stop(record)
        print_line(f"{record.name} is down")
