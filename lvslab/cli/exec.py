"""lvslab exec: run a program in a node of a lab that is up."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from lvslab.agent.wire import STDIN, STDOUT
from lvslab.cli.options import complete_node, lab_option

if TYPE_CHECKING:
    from lvslab.kernels.attach import LabRecord

PASSED_ON = ("TERM", "COLORTERM", "HOME", "USER", "LOGNAME", "EDITOR", "PAGER")


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@lab_option
@click.option("-t", "--tty", is_flag=True, help="Give the program a terminal.")
@click.argument("node", shell_complete=complete_node)
@click.argument("argv", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(lab: str | None, tty: bool, node: str, argv: tuple[str, ...]) -> int:
    """Run CMD in NODE, as on a machine of that name. Its streams, signals and exit status are passed through."""
    program = argv[1:] if argv[0] == "--" else argv
    if not program:
        raise click.UsageError("Missing argument 'CMD...'.")
    return run_in_node(lab, node, program, terminal=tty)


def run_in_node(lab: str | None, node: str, argv: tuple[str, ...], *, terminal: bool) -> int:
    """Run a program in a node with this command's streams; return its exit status.

    Raises BadInput, and what `run_session` does.
    """
    from lvslab.kernels.attach import find_lab

    record = find_lab(lab)
    record.require_node(node)
    return run_in_lab(record, node, argv, terminal=terminal)


def run_in_lab(record: LabRecord, node: str, argv: tuple[str, ...], *, terminal: bool) -> int:
    """Do so in a known lab; the node "" is none of its nodes, but where the agent is. Raises as `run_in_node`."""
    from lvslab.errors import BadInput
    from lvslab.kernels.attach import connect
    from lvslab.kernels.session import SessionOrder, run_session

    if terminal and not (os.isatty(STDIN) and os.isatty(STDOUT)):
        found = "a pipe, a file or nothing as stdin or stdout"
        raise BadInput("a terminal is needed", where=node, found=found, next_step="use lvslab exec without -t")
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with connect(record) as connection:
        return run_session(connection, SessionOrder(node, argv, environment, terminal, _folder()))


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - it may be gone
    except FileNotFoundError:
        return "/"
