"""lvslab kernel: build and manage User-Mode Linux kernels of one's own."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lvslab.cli.options import json_option


@click.group("kernel")
def command() -> None:
    """Build a User-Mode Linux kernel for labs, and choose among those there are."""


def _complete_release(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from lvslab.kernels.images import images

    return [image.release for image in images() if image.release.startswith(incomplete)]


@command.command("build")
@click.argument("source", metavar="[PACKAGE|ARCHIVE]", required=False)
@click.option("--jobs", metavar="N", type=click.IntRange(1), help="Compilers at once; default: one per processor.")
def build(source: str | None, jobs: int | None) -> None:
    """Build a kernel from a linux-source package (default linux-source-6.12) or a source archive.

    Takes about 9 minutes on two processors, 3 GB of disk meanwhile (below TMPDIR, else /var/tmp), and no root.
    """
    import os

    from lvslab.kernels.build.compile import build_kernel
    from lvslab.kernels.build.make import MakeFailed
    from lvslab.kernels.build.source import DEFAULT_PACKAGE
    from lvslab.report.progress import Counter, make_progress

    counter = Counter(sys.stderr, "files compiled")
    try:
        kernel = build_kernel(
            source or DEFAULT_PACKAGE,
            jobs=jobs or len(os.sched_getaffinity(0)),
            phase=make_progress(sys.stderr, verbose=True).phase,
            compiled=counter.count,
        )
    except MakeFailed as error:
        for line in error.tail:
            click.echo(f"  {line}", err=True)
        raise
    click.echo(f"uml:{kernel.release}, from {kernel.source}, schedulers: {' '.join(kernel.schedulers)}")


@command.command("list")
@json_option
def list_kernels(json_path: str | None) -> None:
    """List the User-Mode Linux kernels there are; * marks the one that `--kernel uml` means."""
    import dataclasses
    import json

    from lvslab.kernels.images import INSTALL_HINT, find_image, images
    from lvslab.report.output import write_output

    chosen = find_image()
    known = images()
    if json_path is not None:
        listed = [dataclasses.asdict(image) | {"chosen": image == chosen} for image in known]
        write_output(json_path, json.dumps(listed, default=str, indent=2).encode() + b"\n")
    if json_path == "-":
        return
    for image in known:
        mark = "*" if image == chosen else " "
        click.echo(f"{mark} {image.release or 'unknown':20} {image.origin:14} {image.program}")
    if not known:
        click.echo(f"none; {INSTALL_HINT}")


@command.command("use")
@click.argument("release", shell_complete=_complete_release)
def use(release: str) -> None:
    """Choose what `--kernel uml` means; a beginning of the release is enough (6.12)."""
    from lvslab.kernels.images import use_image

    click.echo(f"uml is now {use_image(release).release}")


@command.command("remove")
@click.argument("release", shell_complete=_complete_release)
def remove(release: str) -> None:
    """Remove a kernel that was built here, unless a lab is up on it."""
    from lvslab.errors import BadInput
    from lvslab.kernels.attach import labs
    from lvslab.kernels.cache import remove_kernel

    for record in labs():
        if record.release == release:
            raise BadInput(
                "this kernel is in use", where=release, found=f"lab {record.name}", next_step="lvslab down it"
            )
    click.echo(f"removed {remove_kernel(release).release}")


@command.command("wheel")
@click.argument("release", shell_complete=_complete_release)
@click.option(
    "-o", "--output", "folder", metavar="DIR", type=click.Path(path_type=Path), default=Path(), help="Where to put it."
)
def wheel(release: str, folder: Path) -> None:
    """Pack a kernel that was built here as a Python wheel, to be installed with pip where nothing can be built."""
    from lvslab.kernels.build.wheel import make_wheel
    from lvslab.kernels.cache import find_kernel

    click.echo(make_wheel(find_kernel(release), folder))
