"""lvslab clean: remove leftovers, and only our own."""

from __future__ import annotations

import click

from lvslab.cli.lines import print_line
from lvslab.errors import CannotRun


@click.command("clean")
def command() -> None:
    """End the processes and remove the folders of labs that were killed. Running labs are left alone."""
    from lvslab.kernels.folder import labs_home, remove_leftovers

    removals = remove_leftovers()
    for removal in removals:
        if removal.complete:
            print_line(f"removed {removal.name}")
    if not removals:
        print_line(f"nothing to remove in {labs_home()}")
    left = [removal.name for removal in removals if not removal.complete]
    if left:
        raise CannotRun(
            "what is left cannot be removed",
            where=str(labs_home()),
            found=", ".join(left),
            next_step="see who owns the files in it; root can remove them",
        )
