"""lvslab lab start: begin a lab, or go on with it."""

from __future__ import annotations

import sys

import click

from lvslab.cli.lab.options import chosen_language, complete_lab_id, language_option, show, show_step
from lvslab.cli.options import kernel_option, memory_option


@click.command("start")
@click.argument("wanted", metavar="ID", shell_complete=complete_lab_id)
@click.option("--student", metavar="NAME", default="", envvar="LVSLAB_STUDENT", help="Your id in the course.")
@click.option("--token", metavar="TOKEN", default="", envvar="LVSLAB_TOKEN", help="Your token: your own addresses.")
@click.option("--again", is_flag=True, help="From the beginning; what was kept so far is set aside.")
@language_option
@kernel_option
@memory_option
def command(
    wanted: str, student: str, token: str, again: bool, language: str | None, kernel: str | None, memory_mib: int
) -> None:
    """Begin a lab, or go on where you left it. Its network is then up, and stays."""
    from lvslab.labs.session import begin
    from lvslab.labs.show import markdown, whereabouts
    from lvslab.report.progress import make_progress

    phase = make_progress(sys.stderr, verbose=False).phase
    session = begin(
        wanted,
        student=student,
        token=token,
        again=again,
        kernel=kernel,
        memory_mib=memory_mib,
        language=language or "",
        phase=phase,
    )
    guided = session.guided
    spoken = chosen_language(language, session)
    if session.progress.position == guided.steps[0].id:
        show(markdown(guided.instructions[spoken].intro, spoken), "")
    show_step(session, spoken)
    show("", *whereabouts(session, spoken))
