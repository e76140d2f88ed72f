"""lvslab clean: remove leftovers, and only our own."""

from __future__ import annotations

import click


@click.command("clean")
def command() -> None:
    """End the processes and remove the folders of labs that were killed. Running labs are left alone."""
    from lvslab.kernels.folder import labs_home, remove_leftovers

    removed = remove_leftovers()
    for name in removed:
        click.echo(f"removed {name}")
    if not removed:
        click.echo(f"nothing to remove in {labs_home()}")
