"""lvslab schema: for editors and for programs that read our output."""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.argument("which", type=click.Choice(["topology", "editor", "verify"]), default="topology")
def command(which: str) -> None:
    """Print a JSON Schema: of topology files once their templates are filled in (default), of files as they are
    written, for an editor (docs/editors.md), or of what verify --json writes.
    """
    if which == "topology":
        from lvslab.topology import json_schema

        schema = json_schema()
    elif which == "editor":
        from lvslab.authoring.editor_schema import editor_schema

        schema = editor_schema()
    else:
        from lvslab.report.json_report import load_schema

        schema = load_schema()
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
