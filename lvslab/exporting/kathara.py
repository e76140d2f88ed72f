"""Kathará: a network scenario of a folder, lab.conf for the wiring and one startup file for each device.

Kathará's collision domains are the switches, so nothing can be set at their ports. kathara.org, man kathara-lab.conf.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lvslab.errors import BadInput
from lvslab.exporting.files import ExportedFile
from lvslab.exporting.image import check_image
from lvslab.exporting.plain import check_plain
from lvslab.exporting.scripts import modules_script, node_script
from lvslab.plan.make import make_plan
from lvslab.topology.model import Topology

FORMAT = "kathara"
_WORD = re.compile(r"\w+", re.ASCII)
RESERVED = ("shared", "_test")
"""Kathara/utils.py: RESERVED_MACHINE_NAMES."""


def kathara_files(topology: Topology, image: str) -> Iterator[ExportedFile]:
    """Yield lab.conf, a startup file for each node, and the host's modules. Raises BadInput."""
    check_image(image)
    check_plain(topology, FORMAT)
    _check_names(topology)
    plan = make_plan(topology)
    yield ExportedFile("lab.conf", "\n".join(_lab_conf(topology, image)) + "\n")
    for node in topology.nodes:
        yield ExportedFile(f"{node.name}.startup", node_script(plan, node))
    yield modules_script(plan)


def _lab_conf(topology: Topology, image: str) -> Iterator[str]:
    yield f"# lvslab: topology {topology.name} for Kathará. Once, as root: sh modules.sh"
    yield "# As root, since sysctls are written: kathara lstart"
    yield f'LAB_NAME="{topology.name}"'
    for node in topology.nodes:
        for number, interface in enumerate(node.interfaces):
            yield f'{node.name}[{number}]="{interface.network}"'
        yield f'{node.name}[image]="{image}"'
        yield f'{node.name}[privileged]="True"'


def _check_names(topology: Topology) -> None:
    names = [node.name for node in topology.nodes] + [network.name for network in topology.networks]
    unusable = [name for name in names if not _WORD.fullmatch(name) or name in RESERVED]
    if unusable:
        raise BadInput(
            "names that Kathará does not take",
            where=topology.source,
            expected="letters and digits",
            found=", ".join(unusable),
            next_step="rename them, or export to another engine",
        )
