"""lvslab lab solution: what could be typed."""

from __future__ import annotations

import sys

import click

from lvslab.cli.lab.options import chosen_language, language_option, say, show_revealed, which_option
from lvslab.cli.lines import print_line


@click.command("solution")
@which_option
@language_option
@click.option("--give-up", is_flag=True, help="See it without having passed; the step then gives no points.")
def command(wanted: str | None, language: str | None, give_up: bool) -> None:
    """Show what could be typed for the step you are at, once you have passed or given up."""
    from lvslab.errors import BadInput
    from lvslab.labs.session import give_up as without_passing
    from lvslab.labs.session import open_session
    from lvslab.labs.solution import solution_of
    from lvslab.labs.words import words
    from lvslab.report.progress import make_progress

    session = open_session(wanted)
    spoken = chosen_language(language, session)
    given_up = not session.progress.step(session.here.id).done
    if given_up and not give_up:
        raise BadInput(
            "this step is not done yet",
            where=f"step {session.here.id}",
            next_step="lvslab lab hint, or add --give-up",
        )
    print_line(solution_of(session.guided, session.here.id).text.rstrip() or "-")
    if not given_up:
        return
    session, seen = without_passing(session, phase=make_progress(sys.stderr, verbose=False).phase)
    show_revealed(session, seen, spoken)
    last = session.here.id == session.guided.steps[-1].id
    done = words("given up; this was the last step: lvslab lab status", "已放弃；这是最后一步：lvslab lab status")
    text = words(
        "given up: later steps build on this, so type it, or let lvslab lab reset do so after lvslab lab next",
        "已放弃：后面的步骤以此为基础，请照着输入，或者在 lvslab lab next 之后用 lvslab lab reset 补上",
    )
    say(done if last else text, spoken)
