"""lvslab walk: one connection's packets, hop by hop."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lvslab.cli.options import complete_topology, kernel_option, parameters, topology_options
from lvslab.errors import BadInput

if TYPE_CHECKING:
    from lvslab.capture.frame import Capture
    from lvslab.walk.model import Conversation, Walk, Walks


@click.command("walk")
@click.argument("name", metavar="[NAME|FILE]", required=False, shell_complete=complete_topology)
@kernel_option
@topology_options
@click.option("--from", "stored", metavar="FILE.pcapng", help="Read a stored capture; needs neither root nor kernel.")
@click.option("--connection", metavar="N", type=click.IntRange(1), default=1, help="Which connection, from 1.")
@click.option("--all", "whole", is_flag=True, help="Show every packet of the connection, not only the first two.")
@click.option("--unmatched", "rest", is_flag=True, help="Show what could not be joined to a walk.")
@click.option("--frame", metavar="N", type=click.IntRange(1), help="Show one frame's headers in full instead.")
@click.option("--pcap", "pcap_path", metavar="FILE", help="Keep the capture.")
def command(
    name: str | None,
    kernel: str | None,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    stored: str | None,
    connection: int,
    whole: bool,
    rest: bool,
    frame: int | None,
    pcap_path: str | None,
) -> None:
    """Show the request and the reply of one connection, and what each node changed on the way."""
    if (name is None) == (stored is None):
        raise BadInput("nothing to walk", expected="a topology, or --from with a stored capture, not both")
    if stored is not None:
        capture, walks = _stored(Path(stored))
    else:
        capture, walks = _driven(str(name), kernel, settings, without, pcap_path)
    from lvslab.report.terminal import make_console
    from lvslab.report.walk_terminal import render_unmatched, render_walks

    console = make_console(sys.stdout)
    if frame is not None:
        console.print(_frame(capture, frame), markup=False, highlight=False)
    elif rest:
        console.print(render_unmatched(walks.unmatched, names=walks.names))
    else:
        chosen = _connection(walks, connection)
        console.print(render_walks(chosen if whole else _first_packets(chosen), names=walks.names))


def _stored(path: Path) -> tuple[Capture, Walks]:
    from lvslab.capture.pcapng import read_capture
    from lvslab.walk import find_walks

    capture = read_capture(path)
    return capture, find_walks(capture, labels=_labels(capture))


def _labels(capture: Capture) -> dict[str, str]:
    """Name the addresses after the topology that the capture was taken in, if it carries one."""
    from lvslab.lab import address_labels, topology_of

    topology = topology_of(capture)
    return {} if topology is None else address_labels(topology)


def _driven(
    name: str, kernel: str | None, settings: tuple[str, ...], without: tuple[str, ...], pcap_path: str | None
) -> tuple[Capture, Walks]:
    from lvslab.capture.pcapng import write_capture
    from lvslab.lab import name_records, open_lab
    from lvslab.report.output import check_output
    from lvslab.report.progress import make_progress

    if pcap_path is not None:
        check_output(pcap_path)
    with make_progress(sys.stderr, verbose=False).phase(f"{name}: boot, build, traffic"):
        with open_lab(name, kernel=kernel, without=without, **parameters(settings)) as lab:
            with lab.record() as recording:
                lab.drive()
            capture = recording.finished()
            walks = lab.walks(capture)
        if pcap_path is not None:
            write_capture(Path(pcap_path), capture, names=name_records(lab.topology))
    return capture, walks


def _connection(walks: Walks, number: int) -> Conversation:
    """Return a connection by its place among those of TCP and UDP."""
    from lvslab.traffic.dns import DNS_PORT

    connections = [item for item in walks.conversations if item.protocol in ("tcp", "udp") and item.requests]
    calls = [item for item in connections if item.responder and item.responder.port != DNS_PORT] or connections
    if number > len(calls):
        raise BadInput(
            "there is no such connection", where="--connection", expected=f"1 to {len(calls)}", found=str(number)
        )
    return calls[number - 1]


def _first_packets(conversation: Conversation) -> tuple[Walk, ...]:
    return (*conversation.requests[:1], *conversation.replies[:1])


def _frame(capture: Capture, number: int) -> str:
    from lvslab.capture.show import show

    if number > len(capture.frames):
        raise BadInput("no such frame", where="--frame", expected=f"1 to {len(capture.frames)}", found=str(number))
    return show(capture.frames[number - 1])
