"""lvslab lab status: how far one has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lvslab.cli.lab.options import chosen_language, language_option, show, which_option
from lvslab.cli.lines import print_line
from lvslab.cli.options import json_option

if TYPE_CHECKING:
    from lvslab.labs.session import Session
    from lvslab.labs.words import Language


@click.command("status")
@which_option
@language_option
@json_option
@click.option("--html", "html_path", metavar="FILE", help="Write a report as one HTML page, with the packets.")
def command(wanted: str | None, language: str | None, json_path: str | None, html_path: str | None) -> None:
    """Show how far you have come, and what you predicted beside what was seen."""
    import json
    from dataclasses import asdict

    from lvslab.labs.session import network_is_up, open_session, predictions_over
    from lvslab.labs.show import comparison, not_observed, status_table, summary
    from lvslab.report.output import write_output

    session = open_session(wanted)
    spoken = chosen_language(language, session)
    progress = session.progress
    up = network_is_up(session)
    if json_path is not None:
        facts = asdict(progress) | {"points": session.points, "of": session.guided.points, "network_up": up}
        write_output(json_path, (json.dumps(facts, indent=1, ensure_ascii=False) + "\n").encode())
        return
    if html_path is not None:
        write_output(html_path, _page(session, spoken, up=up))
        return
    print_line(f"{session.guided.id}  {session.guided.title.in_(spoken)}")
    show(status_table(session.guided, progress, spoken))
    for step, given, kept in predictions_over(session):
        if kept.observed is not None:
            show(comparison(step, given, kept.observed, kept.observed_at, spoken))
        else:
            show(not_observed(step, given, spoken))
    show(summary(session, spoken, up=up))


def _page(session: Session, language: Language, *, up: bool) -> bytes:
    from lvslab.labs.page import report_page
    from lvslab.labs.session import network_of
    from lvslab.labs.view import View

    if not up:
        return report_page(session, None, language)
    with network_of(session) as lab:
        return report_page(session, View(lab).examination, language)
