"""lvslab connections: what a director remembers, and which packet made it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lvslab.cli.lines import print_aside
from lvslab.cli.options import (
    FiniteRange,
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
    from lvslab.ipvs.model import Connection
    from lvslab.kernels.attach import LabRecord
    from lvslab.lab import Lab, WatchedConnection
    from lvslab.topology.model import Topology, VirtualService

DRIVEN = ("kernel", "settings", "without", "virtual_time", "number", "end", "until_gone", "pcap_path")
"""Options of a connection that is made to be watched."""
DEFAULT_INTERVAL_S = 0.2


@click.command("connections")
@click.argument("name", metavar="[NAME|FILE]", required=False, shell_complete=complete_topology)
@kernel_option
@topology_options
@time_option
@running_option
@click.option("--service", "number", metavar="N", type=click.IntRange(1), default=1, help="Which service, from 1.")
@click.option(
    "--end",
    type=click.Choice(["server", "client", "reset"]),
    default="server",
    help="Who ends the connection: the server after its answer; the client before it asks; the client by a reset.",
)
@click.option("--until-gone", is_flag=True, help="Go on until the entry has expired: minutes, or --time virtual.")
@click.option("--watch", is_flag=True, help="With --lab: show each change as it is seen, until Ctrl-C.")
@click.option(
    "--interval",
    "interval_s",
    metavar="S",
    type=FiniteRange(0.01, 3600),
    default=DEFAULT_INTERVAL_S,
    help=f"With --watch: seconds between two readings; default {DEFAULT_INTERVAL_S}.",
)
@click.option("--pcap", "pcap_path", metavar="FILE", help="Keep the capture.")
@json_option
def command(
    name: str | None,
    kernel: str | None,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    virtual_time: bool,
    lab: str | None,
    number: int,
    end: str,
    until_gone: bool,
    watch: bool,
    interval_s: float,
    pcap_path: str | None,
    json_path: str | None,
) -> None:
    """Show the director's connection table: of a lab that is up, as it is (--lab) or as it changes (--watch).

    Of a topology: make one connection, and show its packets at the director and what each made of the table.
    """
    from lvslab.report.output import STDOUT, check_outputs, write_output

    check_outputs({"--pcap": pcap_path, "--json": json_path})
    if not watch:
        refuse_beside("a table that is not watched", "there are no readings to space", "interval_s")
    if lab is not None:
        refuse_beside("--lab", "it is looked at as it is", "name", *DRIVEN)
        _show_lab(lab or None, json_path, interval_s if watch else None)
        return
    if name is None:
        raise click.UsageError("Missing argument 'NAME|FILE', or option '--lab'.")
    if watch:
        raise BadInput("there is no lab to watch", where="--watch", next_step="bring one up (lvslab up), and add --lab")
    topology, service = _paced(name, settings, without, number)
    watched = _watched(topology, service, kernel, end, virtual_time=virtual_time, until_gone=until_gone)
    if pcap_path is not None:
        from lvslab.capture.pcapng import write_capture
        from lvslab.lab import name_records

        write_capture(Path(pcap_path), watched.capture, names=name_records(topology))
    if json_path is not None:
        from lvslab.report.connections_json import timeline_document
        from lvslab.report.json_report import to_text

        write_output(json_path, to_text(timeline_document(watched)))
    if json_path != STDOUT:
        from lvslab.report.console import make_console
        from lvslab.report.timeline_terminal import render_timeline

        make_console(sys.stdout).print(render_timeline(watched))


def _paced(
    name: str, settings: tuple[str, ...], without: tuple[str, ...], number: int
) -> tuple[Topology, VirtualService]:
    """Return the topology with slow cables for those who talk, and the service to call."""
    from lvslab.topology import load_topology
    from lvslab.topology.model import Application
    from lvslab.traffic.pacing import paced

    topology = load_topology(name, params=parameters(settings), without=without)
    if not topology.services:
        raise BadInput("no virtual service to connect to", where=topology.name, expected="services:", found="none")
    if number > len(topology.services):
        expected = f"1 to {len(topology.services)}"
        raise BadInput("no such service", where="--service", expected=expected, found=str(number))
    service = topology.services[number - 1]
    if service.application is Application.FTP:
        raise BadInput(
            "FTP is more than one connection",
            where=topology.name,
            next_step="lvslab up, and lvslab connections --lab --watch while curl fetches a file",
        )
    return paced(topology, service), service


def _watched(
    topology: Topology, service: VirtualService, kernel: str | None, end: str, *, virtual_time: bool, until_gone: bool
) -> WatchedConnection:
    from lvslab.lab import open_lab
    from lvslab.report.progress import make_progress
    from lvslab.traffic.watched import Ending

    progress = make_progress(sys.stderr, verbose=False)
    with (
        progress.phase(f"{topology.name}: boot, build, one connection"),
        open_lab(topology, kernel=kernel, virtual_time=virtual_time) as lab,
    ):
        return lab.watch_connection(service, Ending(end), until_gone=until_gone)


def _show_lab(name: str | None, json_path: str | None, interval_s: float | None) -> None:
    from lvslab.running import attached, find_lab

    record = find_lab(name)
    with attached(record) as lab:
        if not lab.directors:
            raise BadInput("this lab has no director", where=record.name, next_step="lvslab ps lists its nodes")
        if interval_s is None:
            _show_tables(record, lab, json_path)
        else:
            _watch(lab, json_path, interval_s)


def _show_tables(record: LabRecord, lab: Lab, json_path: str | None) -> None:
    from lvslab.lab import address_labels
    from lvslab.report.output import STDOUT, write_output

    names = address_labels(lab.topology)
    tables = {director: lab.known_entries(director) for director in lab.directors}
    if json_path is not None:
        from lvslab.report.connections_json import tables_document
        from lvslab.report.json_report import to_text

        write_output(json_path, to_text(tables_document(record.name, tables, names)))
    if json_path != STDOUT:
        from lvslab.report.connections_terminal import ConnectionTable
        from lvslab.report.console import make_console

        console = make_console(sys.stdout)
        for director, entries in tables.items():
            console.print(ConnectionTable(director, entries, names))


def _watch(lab: Lab, json_path: str | None, interval_s: float) -> None:
    """Print what each reading has that the one before had not, until Ctrl-C. With JSON, an object on each line."""
    from lvslab.ipvs.watched import Seen, changed_entries
    from lvslab.lab import address_labels
    from lvslab.report.connections_json import watch_line
    from lvslab.report.entry_words import watch_words

    names = address_labels(lab.topology)
    before: dict[str, tuple[Connection, ...]] = {}
    readings = 0
    with suppress(KeyboardInterrupt), writer(json_path) as write:
        while True:
            now = {director: lab.connections(director) for director in lab.directors}
            seen_s = lab.now()
            for director, entries in now.items():
                known = before.get(director)
                for was, entry in changed_entries(known or (), entries):
                    seen = Seen(seen_s, director, was, entry, is_first=known is None)
                    write(watch_words(seen, names) if json_path is None else watch_line(seen))
            before = now
            readings += 1
            time.sleep(interval_s)
    print_aside(f"{readings} readings, {interval_s:g} s between them")


@contextmanager
def writer(path: str | None) -> Iterator[Callable[[str], None]]:
    """Give a function that prints a line, or writes it to a file, so that a reader has it at once."""
    from lvslab.report.output import STDOUT, unwritable

    if path is None or path == STDOUT:
        yield click.echo
        return
    with Path(path).open("wb", buffering=0) as file:

        def write(line: str) -> None:
            try:
                file.write(f"{line}\n".encode())
            except BrokenPipeError:
                raise
            except OSError as error:
                raise unwritable(path, error) from error

        yield write
