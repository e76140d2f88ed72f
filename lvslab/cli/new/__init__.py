"""lvslab new: beginnings."""

from __future__ import annotations

import click

from lvslab.cli.lazy import LazyGroup

VERBS = {
    "topology": "Begin a topology of your own.",
}


@click.group("new", cls=LazyGroup, verbs=VERBS, package="lvslab.cli.new")
def command() -> None:
    """Begin a topology of your own; a lab begins with lvslab lab new."""
