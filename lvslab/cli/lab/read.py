"""lvslab lab read: the text of the step one is at."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import chosen_language, language_option, show, show_step, which_option


@click.command("read")
@which_option
@language_option
@click.option("--all", "everything", is_flag=True, help="The whole text.")
@click.option("--intro", is_flag=True, help="The introduction.")
def command(wanted: str | None, language: str | None, everything: bool, intro: bool) -> None:
    """Show the text of the step you are at."""
    from lvslab.labs.session import open_session
    from lvslab.labs.show import markdown, step_text

    session = open_session(wanted)
    spoken = chosen_language(language, session)
    text = session.guided.instructions[spoken]
    if everything or intro:
        show(markdown(text.intro, spoken))
    if everything:
        for step in session.guided.steps:
            show("", step_text(session.guided, step, spoken))
        show("", markdown(text.closing, spoken))
    elif not intro:
        show_step(session, spoken)
