"""lvslab lab answer: answer a question, and judge it."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import chosen_language, language_option, which_option


@click.command("answer")
@which_option
@language_option
@click.argument("answer", nargs=-1, required=True)
def command(wanted: str | None, language: str | None, answer: tuple[str, ...]) -> int:
    """Answer the question you are at; it is compared with what the lab shows."""
    from lvslab.cli.lab.judging import judge_here
    from lvslab.labs.model import StepKind
    from lvslab.labs.session import commit_answer, open_session

    session = commit_answer(open_session(wanted), " ".join(answer), StepKind.QUESTION)
    return judge_here(session, chosen_language(language, session))
