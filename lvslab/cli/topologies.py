"""lvslab topologies: what is shipped."""

from __future__ import annotations

import json

import click

from lvslab.cli.lines import print_line
from lvslab.cli.options import json_option


@click.command("topologies")
@json_option
def command(json_path: str | None) -> None:
    """List the topologies that come with lvslab, with their parameters."""
    from lvslab.report.output import write_output
    from lvslab.topology import load_topology, shipped

    topologies = [load_topology(name) for name in shipped()]
    if json_path is not None:
        listed = [{"name": t.name, "title": dict(t.title), "params": dict(t.params)} for t in topologies]
        write_output(json_path, json.dumps(listed, indent=2, ensure_ascii=False).encode() + b"\n")
        return
    for topology in topologies:
        settings = " ".join(f"{key}={value}" for key, value in topology.params.items())
        print_line(f"{topology.name:10} {topology.title.get('en', '')}\n{'':10} --set {settings}")
