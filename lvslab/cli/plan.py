"""lvslab plan: what would be done, without doing it."""

from __future__ import annotations

import dataclasses
import json
import sys

import click

from lvslab.cli.lines import print_line
from lvslab.cli.options import complete_topology, json_option, parameters, topology_options


@click.command("plan")
@click.argument("name", metavar="NAME|FILE", shell_complete=complete_topology)
@topology_options
@click.option("--shell", "as_shell", is_flag=True, help="Print commands a person could type, as a script.")
@json_option
def command(
    name: str, settings: tuple[str, ...], without: tuple[str, ...], as_shell: bool, json_path: str | None
) -> None:
    """List the steps that build a topology, in order."""
    from lvslab.plan import make_plan
    from lvslab.plan.describe import describe
    from lvslab.plan.shell import shell_script
    from lvslab.report.output import write_output
    from lvslab.topology import load_topology

    plan = make_plan(load_topology(name, params=parameters(settings), without=without))
    if json_path is not None:
        steps = [
            {"step": type(step).__name__, "text": describe(step), **dataclasses.asdict(step)} for step in plan.steps
        ]
        document = {"topology": plan.topology, "steps": steps}
        write_output(json_path, json.dumps(document, default=str, indent=2, ensure_ascii=False).encode() + b"\n")
    elif as_shell:
        sys.stdout.write(shell_script(plan))
    else:
        for number, step in enumerate(plan.steps, 1):
            print_line(f"{number:4}  {describe(step)}")
