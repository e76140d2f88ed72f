"""lvslab lab walk: a packet's walk through the lab as it is now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lvslab.cli.lab.options import chosen_language, language_option, show, which_option

if TYPE_CHECKING:
    from lvslab.lab import Lab
    from lvslab.labs.session import Session
    from lvslab.verify.evidence import Evidence


@click.command("walk")
@which_option
@language_option
@click.option("--all", "everything", is_flag=True, help="The whole connection, not only its first packets.")
@click.option("--from", "caller", metavar="NODE", help="Call once from this node; default: the lab's usual calls.")
@click.option("--anyway", is_flag=True, help="Also where you have a prediction to make, and this shows the answer.")
@click.option("--pcap", "pcap_path", metavar="FILE", help="Keep the capture.")
@click.option("--html", "html_path", metavar="FILE", help="Write them as one HTML page instead (- for stdout).")
def command(
    wanted: str | None,
    language: str | None,
    everything: bool,
    caller: str | None,
    anyway: bool,
    pcap_path: str | None,
    html_path: str | None,
) -> None:
    """Call the service a few times, and show the first call's packets hop by hop, with what changed at each."""
    from lvslab.capture.pcapng import write_capture
    from lvslab.lab import name_records
    from lvslab.labs.session import network_of, open_session
    from lvslab.report.html import walk_page
    from lvslab.report.output import check_outputs, write_output
    from lvslab.report.walk_terminal import render_walks
    from lvslab.walk.select import connections, opening
    from lvslab.walk.terms import with_terms

    session = open_session(wanted)
    spoken = chosen_language(language, session)
    if not anyway:
        _keep_back(session)
    check_outputs({"--pcap": pcap_path, "--html": html_path})
    with network_of(session) as lab:
        evidence = _called(lab, caller)
    if pcap_path is not None:
        write_capture(Path(pcap_path), evidence.capture, names=name_records(evidence.topology))
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


def _keep_back(session: Session) -> None:
    """Raise BadInput where the walk would show what is to be predicted first."""
    from lvslab.errors import BadInput
    from lvslab.labs.model import StepKind

    step = session.here
    if step.kind is StepKind.PREDICTION and not session.progress.step(step.id).done:
        raise BadInput(
            "a prediction is to be made here, and the walk may show its answer",
            where=f"step {step.id}",
            next_step="lvslab lab predict … first, or lvslab lab walk --anyway",
        )


def _called(lab: Lab, caller: str | None) -> Evidence:
    from lvslab.labs.view import View

    view = View(lab)
    return view.examination.evidence if caller is None else view.evidence_of_call(caller)
