"""lvslab lab reset: the network anew."""

from __future__ import annotations

import sys

import click

from lvslab.cli.lab.options import which_option
from lvslab.cli.lines import print_line
from lvslab.cli.options import kernel_option


@click.command("reset")
@which_option
@click.option("--all", "everything", is_flag=True, help="Begin the lab anew; what was kept is set aside.")
@kernel_option
def command(wanted: str | None, everything: bool, kernel: str | None) -> None:
    """Build the network anew, with what you have done so far done again by the lab's own solution."""
    from lvslab.labs.session import open_session, reset
    from lvslab.report.progress import make_progress

    phase = make_progress(sys.stderr, verbose=False).phase
    session = reset(open_session(wanted), everything=everything, kernel=kernel, phase=phase)
    print_line(f"{session.guided.id}: {session.here.id}")
