"""containerlab: one Linux container for each node and for each switch, joined by veth pairs.

The switches are containers, too: nothing of the host's own network is used. containerlab.dev, manual: topology
definition, kinds (linux), network-mode none, which leaves eth0 to the topology.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lvslab.exporting.files import ExportedFile, commented_yaml
from lvslab.exporting.image import check_image
from lvslab.exporting.scripts import modules_script, node_script, switch_script
from lvslab.plan.make import make_plan
from lvslab.plan.steps import MakeLink, Plan
from lvslab.topology.model import Topology
from lvslab.topology.switches import switch_name

SCRIPT = "/lvslab/node.sh"


def containerlab_files(topology: Topology, image: str) -> Iterator[ExportedFile]:
    """Yield the topology definition, a script for each node and switch, and the host's modules. Raises BadInput."""
    check_image(image)
    plan = make_plan(topology)
    scripts = {node.name: node_script(plan, node) for node in topology.nodes}
    scripts |= {switch_name(network.name): switch_script(plan, network) for network in topology.networks}
    definition = f"{topology.name}.clab.yml"
    yield ExportedFile(
        definition,
        commented_yaml(
            _definition(topology, plan, image, list(scripts)),
            f"lvslab: topology {topology.name} for containerlab.",
            "Once, as root: sh modules.sh",
            f"containerlab deploy -t {definition}; docker exec -it clab-{topology.name}-director bash",
        ),
    )
    for name, text in scripts.items():
        yield ExportedFile(f"nodes/{name}.sh", text)
    yield modules_script(plan)


def _definition(topology: Topology, plan: Plan, image: str, names: list[str]) -> dict[str, Any]:
    links = [step for step in plan.steps if isinstance(step, MakeLink)]
    return {
        "name": topology.name,
        "topology": {
            "defaults": {"kind": "linux", "image": image, "network-mode": "none", "cmd": "sleep infinity"},
            "nodes": {name: {"binds": [f"nodes/{name}.sh:{SCRIPT}:ro"], "exec": [f"sh {SCRIPT}"]} for name in names},
            "links": [{"endpoints": [f"{link.node}:{link.interface}", f"{link.switch}:{link.port}"]} for link in links],
        },
    }
