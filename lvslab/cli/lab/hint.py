"""lvslab lab hint: one hint more."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import chosen_language, language_option, say, show, which_option


@click.command("hint")
@which_option
@language_option
def command(wanted: str | None, language: str | None) -> None:
    """Show one hint more: first where to look, then what to look for, then the command."""
    from lvslab.labs.session import hint, open_session
    from lvslab.labs.show import prose
    from lvslab.labs.words import words

    session, shown = hint(open_session(wanted))
    spoken = chosen_language(language, session)
    hints = session.here.hints
    for number, text in enumerate(hints[:shown], start=1):
        show(prose(f"{number}/{len(hints)}  {text.in_(spoken)}", spoken))
    if not hints:
        say(words("a prediction has no hints: say what you think", "预测没有提示：说出你的想法就好"), spoken)
