"""lvslab lab predict: commit a prediction."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import chosen_language, language_option, say, which_option


@click.command("predict")
@which_option
@language_option
@click.argument("answer", nargs=-1, required=True)
def command(wanted: str | None, language: str | None, answer: tuple[str, ...]) -> None:
    """Commit what you expect to see. It is kept, and shown beside what is seen once you get there."""
    from lvslab.labs.model import StepKind
    from lvslab.labs.session import commit_answer, open_session
    from lvslab.labs.words import words

    session = commit_answer(open_session(wanted), " ".join(answer), StepKind.PREDICTION)
    kept = session.progress.step(session.here.id).answer
    text = words("kept: {kept}; go on: lvslab lab next", "已记下：{kept}；继续：lvslab lab next", kept=kept)
    say(text, chosen_language(language, session))
