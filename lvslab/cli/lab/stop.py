"""lvslab lab stop: the network down."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import which_option


@click.command("stop")
@which_option
def command(wanted: str | None) -> None:
    """Take the lab's network down. Your progress stays: lvslab lab start goes on."""
    from lvslab.labs.session import end

    network, was_up = end(wanted)
    click.echo(f"{network} is down" if was_up else f"{network} was not up")
