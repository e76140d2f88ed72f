"""lvslab schema: for editors and for programs that read our output."""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.argument("which", type=click.Choice(["topology", "verify"]), default="topology")
def command(which: str) -> None:
    """Print the JSON Schema of topology files (default), or of what verify --json writes."""
    if which == "topology":
        from lvslab.topology import json_schema

        schema = json_schema()
    else:
        from lvslab.report.json_report import load_schema

        schema = load_schema()
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
