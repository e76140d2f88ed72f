"""lvslab lab stop: the network down."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import which_option
from lvslab.cli.lines import print_line


@click.command("stop")
@which_option
def command(wanted: str | None) -> None:
    """Take the lab's network down. Your progress stays: lvslab lab start goes on."""
    from lvslab.labs.session import end

    network, was_up = end(wanted)
    print_line(f"{network} is down" if was_up else f"{network} was not up")
