"""lvslab lab next: on to the next step."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import chosen_language, language_option, show_step, which_option


@click.command("next")
@which_option
@language_option
def command(wanted: str | None, language: str | None) -> None:
    """Go on to the next step, and show its text."""
    from lvslab.labs.session import advance, open_session

    session = advance(open_session(wanted))
    show_step(session, chosen_language(language, session))
