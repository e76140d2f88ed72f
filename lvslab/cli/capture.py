"""lvslab capture: packets of a lab that is up, as they come."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from lvslab.cli.lines import print_aside
from lvslab.cli.options import complete_node, lab_option
from lvslab.errors import BadInput

if TYPE_CHECKING:
    from lvslab.capture.live import Summary, Tap
    from lvslab.kernels.attach import LabRecord
    from lvslab.sandbox.devices import Devices

STDOUT = "-"


@click.command("capture")
@lab_option
@click.option("-w", "--write", "path", metavar="FILE", required=True, help="Write pcapng to FILE (- for stdout).")
@click.option("-c", "--count", metavar="N", type=click.IntRange(1), help="Stop after N frames.")
@click.argument("taps", metavar="[NODE[:IF]]...", nargs=-1, shell_complete=complete_node)
def command(lab: str | None, path: str, count: int | None, taps: tuple[str, ...]) -> None:
    """Capture packets at NODEs, or at their interface IF, until Ctrl-C; without NODE, at all nodes.

    For Wireshark: lvslab capture director -w - | wireshark -k -i -
    """
    from lvslab.capture.live import capture_live
    from lvslab.kernels.attach import attach, connect, find_lab
    from lvslab.sandbox.devices import Devices

    record = find_lab(lab)
    kernel = attach(record)
    try:
        devices = Devices(kernel.channel)
        wanted = _taps(record, devices, taps)
        with _output(path) as output, connect(record) as connection:
            heard = " ".join(taps) or "all nodes"
            begun = partial(print_aside, f"capturing at {heard}; Ctrl-C ends it")
            summary = capture_live(connection, devices, wanted, output, limit=count, begun=begun)
    finally:
        kernel.close()
    print_aside(_in_words(summary))
    if summary.fault is not None:
        raise summary.fault


def _taps(record: LabRecord, devices: Devices, words: Sequence[str]) -> tuple[Tap, ...]:
    from lvslab.capture.live import Tap

    taps = [Tap(*word.split(":", 1)) for word in dict.fromkeys(words or record.node_names)]
    whole = {tap.node for tap in taps if not tap.interface}
    for tap in taps:
        record.require_node(tap.node)
        names = devices.hardware(tap.node)
        if tap.interface and tap.interface not in names:
            known = f"one of {', '.join(names)}"
            raise BadInput("no such interface", where=tap.node, expected=known, found=tap.interface)
    return tuple(tap for tap in taps if not tap.interface or tap.node not in whole)


@contextmanager
def _output(path: str) -> Iterator[int]:
    if path == STDOUT:
        if sys.stdout.isatty():
            next_step = "pipe it into tcpdump -r - or wireshark -k -i -, or name a file"
            raise BadInput("a capture is not for a terminal", where="standard output", next_step=next_step)
        yield sys.stdout.fileno()
        return
    try:
        output = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise BadInput("cannot write here", where=path, found=error.strerror) from error
    try:
        yield output
    finally:
        os.close(output)


def _in_words(summary: Summary) -> str:
    if summary.dropped is None:
        return f"{summary.frames} frames captured"
    lost = {node: count for node, count in summary.dropped.items() if count}
    where = f" ({', '.join(f'{node} {count}' for node, count in lost.items())})" if lost else ""
    return f"{summary.frames} frames captured, {sum(lost.values())} dropped by the kernel{where}"
