"""lvslab export compose."""

from __future__ import annotations

from pathlib import Path

import click

from lvslab.cli.export.options import container_options, export_folder


@click.command("compose")
@container_options
def command(name: str, output: Path | None, image: str, settings: tuple[str, ...], without: tuple[str, ...]) -> None:
    """Write a folder for Docker Compose: compose.yaml, and a script for each node."""
    from lvslab.exporting.compose import compose_files

    export_folder(compose_files, name, output, image, settings=settings, without=without)
