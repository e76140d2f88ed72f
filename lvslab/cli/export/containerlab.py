"""lvslab export containerlab."""

from __future__ import annotations

from pathlib import Path

import click

from lvslab.cli.export.options import container_options, export_folder


@click.command("containerlab")
@container_options
def command(name: str, output: Path | None, image: str, settings: tuple[str, ...], without: tuple[str, ...]) -> None:
    """Write a folder for containerlab: the topology definition, and a script for each node and switch."""
    from lvslab.exporting.containerlab import containerlab_files

    export_folder(containerlab_files, name, output, image, settings=settings, without=without)
