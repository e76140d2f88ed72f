"""lvslab lab solution: what could be typed."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import which_option


@click.command("solution")
@which_option
@click.option("--give-up", is_flag=True, help="See it without having passed; the step then gives no points.")
def command(wanted: str | None, give_up: bool) -> None:
    """Show what could be typed for the step you are at, once you have passed or given up."""
    from lvslab.errors import BadInput
    from lvslab.labs.session import give_up as without_passing
    from lvslab.labs.session import open_session
    from lvslab.labs.solution import solution_of

    session = open_session(wanted)
    if not session.progress.step(session.here.id).done:
        if not give_up:
            raise BadInput(
                "this step is not done yet", where=session.here.id, next_step="lvslab lab hint, or add --give-up"
            )
        session = without_passing(session)
    click.echo(solution_of(session.guided, session.here.id).text.rstrip() or "-")
