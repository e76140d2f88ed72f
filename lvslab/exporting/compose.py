"""Docker Compose: a service for each node, a network for each network.

Each network is an internal one of the driver `macvlan`, which Docker gives a parent of its own: frames go by their
MAC, to whomever the director sends them. On a network of the driver `bridge` the host's packet filter would see
them, and drop what carries addresses of another network. Docker's own addresses are of no use here; the scripts take
them away. docs.docker.com: macvlan network driver; Compose file, networks (`interface_name`: Engine 28.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lvslab.exporting.files import ExportedFile, commented_yaml
from lvslab.exporting.image import check_image
from lvslab.exporting.plain import check_plain
from lvslab.exporting.scripts import modules_script, node_script
from lvslab.plan.make import make_plan
from lvslab.topology.model import Node, Topology

FORMAT = "compose"
SCRIPT = "/lvslab/node.sh"


def compose_files(topology: Topology, image: str) -> Iterator[ExportedFile]:
    """Yield compose.yaml, a script for each node, and the host's modules. Raises BadInput."""
    check_image(image)
    check_plain(topology, FORMAT)
    plan = make_plan(topology)
    yield ExportedFile(
        "compose.yaml",
        commented_yaml(
            {
                "name": topology.name,
                "services": {node.name: _service(node, image) for node in topology.nodes},
                "networks": {network.name: {"driver": "macvlan", "internal": True} for network in topology.networks},
            },
            f"lvslab: topology {topology.name} for Docker Compose (Docker Engine 28.1 or newer).",
            "Once, as root: sh modules.sh",
            "docker compose up -d --wait; docker compose exec director bash",
        ),
    )
    for node in topology.nodes:
        yield ExportedFile(f"nodes/{node.name}.sh", node_script(plan, node))
    yield modules_script(plan)


def _service(node: Node, image: str) -> dict[str, Any]:
    return {
        "image": image,
        "hostname": node.name,
        "privileged": True,
        "init": True,
        "command": ["sh", "-c", f"sh {SCRIPT} && exec sleep infinity"],
        "volumes": [f"./nodes/{node.name}.sh:{SCRIPT}:ro"],
        "networks": {each.network: {"interface_name": each.name} for each in node.interfaces},
    }
