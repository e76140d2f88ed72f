"""Lines for a person: names, titles and values come from files that anybody may have written."""

from __future__ import annotations

import click

from lvslab.report.printable import printable


def print_line(text: object) -> None:
    """Print a line that a terminal shows as it is, and obeys nothing of."""
    click.echo(printable(str(text)))


def print_aside(text: str) -> None:
    """Print, as `print_line` does and on standard error, what is about the work and not its result: a line or more."""
    for line in text.splitlines():
        click.echo(printable(f"lvslab: {line}"), err=True)
