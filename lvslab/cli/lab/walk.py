"""lvslab lab walk: a packet's walk through the lab as it is now."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import chosen_language, language_option, show, which_option


@click.command("walk")
@which_option
@language_option
@click.option("--all", "everything", is_flag=True, help="The whole connection, not only its first packets.")
def command(wanted: str | None, language: str | None, everything: bool) -> None:
    """Call the service once, and show the packets hop by hop, with what changed at each."""
    from lvslab.labs.session import network_of, open_session
    from lvslab.labs.view import View
    from lvslab.report.walk_terminal import render_walks
    from lvslab.walk.select import connections, opening

    session, spoken = open_session(wanted), chosen_language(language)
    with network_of(session) as lab:
        walks = View(lab).examination.evidence.walks
    found = connections(walks)
    if not found:
        show(render_walks((), names=walks.names, language=spoken))
        return
    shown = found[0] if everything else opening(found[0])
    show(render_walks(shown, names=walks.names, language=spoken))
