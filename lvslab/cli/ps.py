"""lvslab ps: the labs that are up."""

from __future__ import annotations

import json
import time

import click

from lvslab.cli.lines import print_line
from lvslab.cli.options import json_option


@click.command("ps")
@json_option
def command(json_path: str | None) -> None:
    """List the labs that are up: kernel, age, nodes and their addresses."""
    from lvslab.kernels.attach import labs

    found = labs()
    if json_path is not None:
        from lvslab.report.output import write_output
        from lvslab.running import summary

        listed = [summary(record) for record in found if record.is_up]
        write_output(json_path, json.dumps(listed, indent=2, ensure_ascii=False).encode() + b"\n")
        return
    for record in found:
        if not record.is_up:
            print_line(f"{record.name}  {record.kernel}, topology {record.topology}, coming up")
            continue
        # The clock may have been put back.
        age_min = max(0, int(time.time() - record.begun) // 60)
        clock = ", virtual time" * record.virtual_time
        print_line(
            f"{record.name}  {record.kernel} {record.release}{clock}, topology {record.topology}, up {age_min} min"
        )
        for node in record.nodes:
            print_line(f"  {node.name:12} {node.role:12} {' '.join(node.addresses)}")
    if not found:
        print_line("no lab is up; lvslab up NAME starts one")
