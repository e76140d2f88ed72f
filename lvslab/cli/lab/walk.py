"""lvslab lab walk: a packet's walk through the lab as it is now."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import chosen_language, language_option, show, which_option


@click.command("walk")
@which_option
@language_option
@click.option("--all", "everything", is_flag=True, help="The whole connection, not only its first packets.")
@click.option("--html", "html_path", metavar="FILE", help="Write them as one HTML page instead (- for stdout).")
def command(wanted: str | None, language: str | None, everything: bool, html_path: str | None) -> None:
    """Call the service once, and show the packets hop by hop, with what changed at each."""
    from lvslab.labs.session import network_of, open_session
    from lvslab.labs.view import View
    from lvslab.report.html import walk_page
    from lvslab.report.output import write_output
    from lvslab.report.walk_terminal import render_walks
    from lvslab.walk.select import connections, opening
    from lvslab.walk.terms import with_terms

    session, spoken = open_session(wanted), chosen_language(language)
    with network_of(session) as lab:
        evidence = View(lab).examination.evidence
    walks = with_terms(evidence.walks, evidence.topology)
    if html_path is not None:
        write_output(html_path, walk_page(walks, evidence, language=spoken))
        return
    found = connections(walks)
    if not found:
        show(render_walks((), names=walks.names, language=spoken))
        return
    shown = found[0] if everything else opening(found[0])
    show(render_walks(shown, names=walks.names, language=spoken))
