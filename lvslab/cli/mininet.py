"""lvslab mininet: Mininet's own command line."""

from __future__ import annotations

import os
import sys

import click

from lvslab.agent.wire import STDIN, STDOUT
from lvslab.cli.exec import run_in_lab
from lvslab.cli.options import lab_option


@click.command("mininet")
@lab_option
def command(lab: str | None) -> int:
    """Open Mininet's own command line on a lab that was made with --backend mininet.

    It is that of the process that built the network: py, link, dump and the like show and change this network. Without
    a terminal the commands are read from standard input.
    """
    from lvslab.errors import BadInput
    from lvslab.kernels.attach import find_lab
    from lvslab.mininet import SOCKET, command_line
    from lvslab.sandbox.backends import NETNS

    record = find_lab(lab)
    if record.backend == NETNS:
        raise BadInput(
            "Mininet has no part in this lab",
            where=record.name,
            expected="a network built by Mininet",
            found=record.backend,
            next_step=f"lvslab down {record.name}, then lvslab up {record.topology} --backend mininet",
        )
    argv = (sys.executable, "-I", command_line.__file__, SOCKET)
    return run_in_lab(record, "", argv, terminal=os.isatty(STDIN) and os.isatty(STDOUT))
