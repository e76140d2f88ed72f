"""lvslab kernel: build and manage User-Mode Linux kernels of one's own."""

from __future__ import annotations

import os
import sys

import click

from lvslab.cli.options import json_option


@click.group("kernel")
def command() -> None:
    """Build a kernel that boots in a blink, and choose among those built."""


@command.command("build")
@click.argument("source", metavar="[PACKAGE|ARCHIVE]", required=False)
@click.option("--jobs", metavar="N", type=click.IntRange(1), help="Compilers at once; default: one per processor.")
def build(source: str | None, jobs: int | None) -> None:
    """Build a kernel from a linux-source package (default linux-source-6.12) or a source archive.

    Takes about 9 minutes on two processors, 3 GB of disk meanwhile, and no root.
    """
    from lvslab.kernels.build.compile import build_kernel
    from lvslab.kernels.build.source import DEFAULT_PACKAGE
    from lvslab.kernels.cache import program_of
    from lvslab.report.progress import make_progress

    progress = make_progress(sys.stderr, verbose=True)
    kernel = build_kernel(
        source or DEFAULT_PACKAGE,
        jobs=jobs or os.cpu_count() or 1,
        phase=progress.phase,
        compiled=lambda count: click.echo(f"  {count} files compiled", err=True),
    )
    program = program_of(kernel)
    click.echo(f"{kernel.release}: {program} ({program.stat().st_size >> 10} KiB), from {kernel.source}")


@command.command("list")
@json_option
def list_kernels(json_path: str | None) -> None:
    """List the kernels built, and Debian's if it is installed; * marks what `--kernel uml` means."""
    import dataclasses
    import json

    from lvslab.kernels.uml import find_image, images
    from lvslab.report.output import write_output

    chosen = find_image()
    known = images()
    if json_path is not None:
        listed = [dataclasses.asdict(image) | {"chosen": image == chosen} for image in known]
        write_output(json_path, json.dumps(listed, default=str, indent=2).encode() + b"\n")
        return
    for image in known:
        click.echo(f"{'*' if image == chosen else ' '} {image.release or 'unknown':20} {image.program}")
    if not known:
        click.echo("none: lvslab kernel build makes one, apt-get install user-mode-linux brings Debian's")


@command.command("use")
@click.argument("name", metavar="RELEASE")
def use(name: str) -> None:
    """Choose what `--kernel uml` means; a beginning of the release is enough (6.12)."""
    from lvslab.kernels.cache import use_kernel

    click.echo(f"uml is now {use_kernel(name).release}")


@command.command("remove")
@click.argument("name", metavar="RELEASE")
def remove(name: str) -> None:
    """Remove a built kernel from the cache."""
    from lvslab.kernels.cache import remove_kernel

    click.echo(f"removed {remove_kernel(name).release}")
