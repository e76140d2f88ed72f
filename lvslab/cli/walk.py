"""lvslab walk: one connection's packets, hop by hop."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lvslab.cli.options import (
    complete_topology,
    json_option,
    kernel_option,
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
    from lvslab.topology.model import Topology
    from lvslab.walk.model import Conversation, Walks

_LANGUAGES = ("en", "zh")


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
@click.option("--lang", type=click.Choice(_LANGUAGES), help="Language; default: the locale's, else en.")
@click.option("--pcap", "pcap_path", metavar="FILE", help="Keep the capture.")
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
    lang: str | None,
    pcap_path: str | None,
    json_path: str | None,
) -> None:
    """Show the request and the reply of one connection, and what each node changed on the way.

    Of a topology, in a lab made for it; of a lab that is up (--lab); or of a stored capture (--from).
    """
    from lvslab.report.output import STDOUT, check_outputs, write_output

    _check_one_source(name, lab, stored)
    check_outputs({"--pcap": pcap_path, "--json": json_path})
    if stored is not None:
        capture, walks = _stored(Path(stored))
    elif lab is not None:
        capture, walks = _running(lab, pcap_path)
    else:
        capture, walks = _driven(str(name), kernel, settings, without, pcap_path, virtual_time=virtual_time)
    if json_path is not None:
        from lvslab.report.json_report import to_text
        from lvslab.report.walk_json import walks_document

        write_output(json_path, to_text(walks_document(walks)))
    if json_path != STDOUT:
        _show(capture, walks, connection, whole=whole, arp=arp, rest=rest, frame=frame, language=lang)


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
    language: str | None,
) -> None:
    from lvslab.report.terminal import make_console
    from lvslab.report.walk_terminal import render_unmatched, render_walks
    from lvslab.walk.phrases import Language
    from lvslab.walk.select import arp_about, opening
    from lvslab.walk.words import no_arp

    console = make_console(sys.stdout)
    spoken = Language(language or language_of(os.environ))
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


def language_of(environ: Mapping[str, str]) -> str:
    """Return the language of the messages' locale (POSIX.1-2017, XBD 8.2), if it is one of ours."""
    locale = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return next((language for language in _LANGUAGES if locale.startswith(language)), _LANGUAGES[0])


def _stored(path: Path) -> tuple[Capture, Walks]:
    from lvslab.capture.pcapng import read_capture
    from lvslab.lab import address_labels, topology_of
    from lvslab.walk import find_walks

    capture = read_capture(path)
    topology = topology_of(capture)
    if topology is None:
        return capture, find_walks(capture)
    return capture, _with_terms(find_walks(capture, labels=address_labels(topology)), topology)


def _with_terms(walks: Walks, topology: Topology) -> Walks:
    from lvslab.walk.terms import address_terms

    return replace(walks, names=replace(walks.names, terms=address_terms(topology)))


def _driven(
    name: str,
    kernel: str | None,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    pcap_path: str | None,
    *,
    virtual_time: bool,
) -> tuple[Capture, Walks]:
    from lvslab.lab import open_lab
    from lvslab.report.progress import make_progress

    progress = make_progress(sys.stderr, verbose=False)
    with (
        progress.phase(f"{name}: boot, build, traffic"),
        open_lab(name, kernel=kernel, virtual_time=virtual_time, without=without, **parameters(settings)) as lab,
    ):
        return _recorded(lab, pcap_path)


def _running(name: str, pcap_path: str | None) -> tuple[Capture, Walks]:
    from lvslab.kernels.attach import find_lab
    from lvslab.report.progress import make_progress
    from lvslab.running import attached

    record = find_lab(name or None)
    with make_progress(sys.stderr, verbose=False).phase(f"{record.name}: traffic"), attached(record) as lab:
        return _recorded(lab, pcap_path)


def _recorded(lab: Lab, pcap_path: str | None) -> tuple[Capture, Walks]:
    from lvslab.capture.pcapng import write_capture
    from lvslab.lab import name_records

    with lab.record() as recording:
        lab.drive()
    capture = recording.finished()
    if pcap_path is not None:
        write_capture(Path(pcap_path), capture, names=name_records(lab.topology))
    return capture, _with_terms(lab.walks(capture), lab.topology)


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
