"""lvslab export kathara."""

from __future__ import annotations

from pathlib import Path

import click

from lvslab.cli.export.options import container_options, export_folder


@click.command("kathara")
@container_options
def command(name: str, output: Path | None, image: str, settings: tuple[str, ...], without: tuple[str, ...]) -> None:
    """Write a folder for Kathará: lab.conf, and a startup file for each node."""
    from lvslab.exporting.kathara import kathara_files

    export_folder(kathara_files, name, output, image, settings=settings, without=without)
