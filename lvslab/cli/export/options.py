"""What the verbs of export share: what is asked for, and where it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lvslab.cli.lines import print_line
from lvslab.cli.options import Command, complete_topology, parameters, topology_options
from lvslab.errors import BadInput

if TYPE_CHECKING:
    from lvslab.exporting.files import ExportedFile
    from lvslab.topology.model import Topology

IMAGE = "lvslab"
STDOUT = Path("-")


def container_options(command: Command) -> Command:
    """Add NAME, --output, --image, --set and --without."""
    name = click.argument("name", metavar="NAME|FILE", shell_complete=complete_topology)
    output = click.option(
        "-o",
        "--output",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        help="A new folder; default: the topology's name.",
    )
    image = click.option("--image", metavar="IMAGE", default=IMAGE, help=f"The nodes' image; default: {IMAGE}.")
    return name(output(image(topology_options(command))))


def export_folder(
    render: Callable[[Topology, str], Iterable[ExportedFile]],
    name: str,
    output: Path | None,
    image: str,
    **options: Any,
) -> None:
    """Load the topology, write its files, and say which. Raises BadInput."""
    from lvslab.exporting.files import write_files
    from lvslab.topology import load_topology

    if output == STDOUT:
        raise BadInput("an export is a folder of files", where="--output -", expected="a new folder")
    topology = load_topology(name, params=parameters(options["settings"]), without=options["without"])
    files = list(render(topology, image))
    for path in write_files(output or Path(topology.name), files):
        print_line(path)
