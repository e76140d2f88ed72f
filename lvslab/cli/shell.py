"""lvslab shell: a terminal on a node."""

from __future__ import annotations

import click

from lvslab.cli.exec import run_in_node
from lvslab.cli.options import complete_node, lab_option


@click.command("shell")
@lab_option
@click.argument("node", shell_complete=complete_node)
def command(lab: str | None, node: str) -> int:
    """Open a root shell on NODE, in this terminal."""
    from lvslab.sandbox.machines import shell_start_file

    return run_in_node(lab, node, ("bash", "--rcfile", shell_start_file(node), "-i"), terminal=True)
