"""lvslab lab stop: the network down."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import which_option


@click.command("stop")
@which_option
def command(wanted: str | None) -> None:
    """Take the lab's network down. Your progress stays: lvslab lab start goes on."""
    from lvslab.labs.session import end, open_session

    session = open_session(wanted)
    click.echo(f"{session.network} is down" if end(session) else f"{session.network} was not up")
