"""lvslab lab new: begin a lab of one's own."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from lvslab.cli.lines import print_line


@click.command("new")
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Write a small lab that passes its own proof into a new FOLDER; its last part is the lab's name."""
    from lvslab.labs.scaffold import new_lab

    for path in new_lab(folder):
        print_line(path)
    here = folder if folder.is_absolute() or folder.parts[0] == ".." else Path(folder)
    shown = shlex.quote(str(here) if "/" in str(here) else f"./{here}")
    print_line(f"next: lvslab lab lint {shown} · lvslab lab test {shown} --seeds 3 (docs/labs.md)")
