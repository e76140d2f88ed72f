"""lvslab export: a topology for other engines."""

from __future__ import annotations

import click

from lvslab.cli.lazy import LazyGroup

VERBS = {
    "containerlab": "A folder for containerlab: a topology definition, and a script for each node and switch.",
    "kathara": "A folder for Kathará: lab.conf, and a startup file for each node.",
    "mininet": "A script for plain Mininet: no lvslab is needed where it runs.",
    "compose": "A folder for Docker Compose: compose.yaml, and a script for each node.",
}


@click.group("export", cls=LazyGroup, verbs=VERBS, package="lvslab.cli.export")
def command() -> None:
    """Write a topology for another engine, with the commands that make the same cluster there."""
