"""lvslab walk: one connection's packets, hop by hop."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lvslab.cli.options import (
    complete_topology,
    html_option,
    json_option,
    kernel_option,
    language_option,
    parameters,
    refuse_beside,
    running_option,
    time_option,
    topology_options,
)
from lvslab.errors import BadInput

if TYPE_CHECKING:
    from lvslab.capture.frame import Capture
    from lvslab.lab import Lab
    from lvslab.verify.evidence import Evidence
    from lvslab.walk.model import Conversation, Walks


@click.command("walk")
@click.argument("name", metavar="[NAME|FILE]", required=False, shell_complete=complete_topology)
@kernel_option
@topology_options
@time_option
@running_option
@click.option("--from", "stored", metavar="FILE.pcapng", help="Read a stored capture; needs neither root nor kernel.")
@click.option("--connection", metavar="N", type=click.IntRange(1), default=1, help="Which connection, from 1.")
@click.option("--all", "whole", is_flag=True, help="Show every packet of the connection, not only the first two.")
@click.option("--arp", is_flag=True, help="Show first who asked for the connection's address by ARP, and who answered.")
@click.option("--unmatched", "rest", is_flag=True, help="Show what could not be joined to a walk.")
@click.option("--frame", metavar="N", type=click.IntRange(1), help="Show one frame's headers in full instead.")
@language_option
@click.option("--pcap", "pcap_path", metavar="FILE", help="Keep the capture.")
@html_option
@json_option
def command(
    name: str | None,
    kernel: str | None,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    virtual_time: bool,
    lab: str | None,
    stored: str | None,
    connection: int,
    whole: bool,
    arp: bool,
    rest: bool,
    frame: int | None,
    language: str,
    pcap_path: str | None,
    html_path: str | None,
    json_path: str | None,
) -> None:
    """Show the request and the reply of one connection, and what each node changed on the way.

    Of a topology, in a lab made for it; of a lab that is up (--lab); or of a stored capture (--from).
    """
    from lvslab.report.output import STDOUT, check_outputs, write_output

    _check_one_source(name, lab, stored)
    if STDOUT == html_path == json_path:
        raise BadInput("standard output takes one report", where="--html - --json -", expected="a file for one of them")
    check_outputs({"--pcap": pcap_path, "--html": html_path, "--json": json_path})
    if stored is not None:
        walked = _stored(Path(stored))
    elif lab is not None:
        walked = _running(lab, pcap_path)
    else:
        walked = _driven(str(name), kernel, settings, without, pcap_path, virtual_time=virtual_time)
    if json_path is not None:
        from lvslab.report.json_report import to_text
        from lvslab.report.walk_json import walks_document

        write_output(json_path, to_text(walks_document(walked.walks)))
    if html_path is not None:
        write_output(html_path, _html(walked, connection, language))
    if STDOUT not in (html_path, json_path):
        _show(walked.capture, walked.walks, connection, whole=whole, arp=arp, rest=rest, frame=frame, language=language)


def _html(walked: _Walked, connection: int, language: str) -> bytes:
    from lvslab.report.html import walk_page
    from lvslab.walk.phrases import Language

    if walked.walks.walks:
        _connection(walked.walks, connection)
    return walk_page(
        walked.walks, walked.evidence, kernel=walked.kernel, connection=connection, language=Language(language)
    )


def _check_one_source(name: str | None, lab: str | None, stored: str | None) -> None:
    sources = {"a topology": name, "--lab": lab, "--from": stored}
    given = [source for source, value in sources.items() if value is not None]
    if len(given) != 1:
        raise BadInput(
            "several things to walk" if given else "nothing to walk",
            expected="one of: a topology, --lab with a lab that is up, --from with a stored capture",
            found=" and ".join(given) or None,
        )
    if name is None:
        refuse_beside(given[0], "it is walked as it is", "kernel", "settings", "without", "virtual_time")


def _show(
    capture: Capture,
    walks: Walks,
    connection: int,
    *,
    whole: bool,
    arp: bool,
    rest: bool,
    frame: int | None,
    language: str,
) -> None:
    from lvslab.report.terminal import make_console
    from lvslab.report.walk_terminal import render_unmatched, render_walks
    from lvslab.walk.phrases import Language
    from lvslab.walk.select import arp_about, opening
    from lvslab.walk.words import no_arp

    console = make_console(sys.stdout)
    spoken = Language(language)
    if frame is not None:
        console.print(_frame(capture, frame), markup=False, highlight=False)
    elif rest:
        console.print(render_unmatched(walks.unmatched, names=walks.names, language=spoken))
    else:
        chosen = _connection(walks, connection)
        about = arp_about(walks, chosen.responder.address) if arp and chosen.responder else ()
        shown = chosen if whole else opening(chosen)
        console.print(render_walks(shown, names=walks.names, arp=about, language=spoken))
        if arp and chosen.responder and not about:
            console.print(no_arp(chosen.responder.address, spoken))


@dataclass(frozen=True, slots=True)
class _Walked:
    """What there is to show, from wherever it came."""

    capture: Capture
    walks: Walks
    evidence: Evidence | None
    """None where the topology is not known."""
    kernel: str = ""


def _stored(path: Path) -> _Walked:
    from lvslab.capture.pcapng import read_capture
    from lvslab.lab import address_labels, topology_of
    from lvslab.verify.evidence import Evidence
    from lvslab.walk import find_walks
    from lvslab.walk.terms import with_terms

    capture = read_capture(path)
    topology = topology_of(capture)
    if topology is None:
        return _Walked(capture, find_walks(capture), None)
    walks = with_terms(find_walks(capture, labels=address_labels(topology)), topology)
    return _Walked(capture, walks, Evidence(topology, capture, walks))


def _driven(
    name: str,
    kernel: str | None,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    pcap_path: str | None,
    *,
    virtual_time: bool,
) -> _Walked:
    from lvslab.lab import open_lab
    from lvslab.report.progress import make_progress

    progress = make_progress(sys.stderr, verbose=False)
    with (
        progress.phase(f"{name}: boot, build, traffic"),
        open_lab(name, kernel=kernel, virtual_time=virtual_time, without=without, **parameters(settings)) as lab,
    ):
        return _recorded(lab, pcap_path, used=False)


def _running(name: str, pcap_path: str | None) -> _Walked:
    from lvslab.kernels.attach import find_lab
    from lvslab.report.progress import make_progress
    from lvslab.running import attached

    record = find_lab(name or None)
    with make_progress(sys.stderr, verbose=False).phase(f"{record.name}: traffic"), attached(record) as lab:
        return _recorded(lab, pcap_path, used=True)


def _recorded(lab: Lab, pcap_path: str | None, *, used: bool) -> _Walked:
    from lvslab.capture.pcapng import write_capture
    from lvslab.lab import name_records
    from lvslab.verify.evidence import Evidence
    from lvslab.walk.terms import with_terms

    with lab.record() as recording:
        outcomes = lab.drive()
    capture = recording.finished()
    if pcap_path is not None:
        write_capture(Path(pcap_path), capture, names=name_records(lab.topology))
    walks = with_terms(lab.walks(capture), lab.topology)
    evidence = Evidence(lab.topology, capture, walks, outcomes, used=used)
    return _Walked(capture, walks, evidence, f"{lab.kernel} {lab.kernel_release}")


def _connection(walks: Walks, number: int) -> Conversation:
    """Return a connection by its place among those of TCP, UDP and SCTP."""
    from lvslab.walk.select import connections

    found = connections(walks)
    if not found:
        raise BadInput(
            "the capture shows no TCP, UDP or SCTP connection",
            expected="at least one whose first packet was seen to leave its sender",
            found=f"{len(walks.walks)} other packets and {len(walks.unmatched)} that could not be joined",
            next_step="see them with --unmatched, or all of them with --json -",
        )
    if number > len(found):
        raise BadInput(
            "there is no such connection", where="--connection", expected=f"1 to {len(found)}", found=str(number)
        )
    return found[number - 1]


def _frame(capture: Capture, number: int) -> str:
    from lvslab.capture.show import show

    if number > len(capture.frames):
        raise BadInput("no such frame", where="--frame", expected=f"1 to {len(capture.frames)}", found=str(number))
    return show(capture.frames[number - 1])
