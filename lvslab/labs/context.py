"""What a lab's texts and transcripts may name instead of addresses: nodes by name, the VIP, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lvslab.topology.model import Topology


@dataclass(frozen=True, slots=True)
class NodeWords:
    """One node, as a text speaks of it. The first interface's address and MAC stand for the node."""

    name: str
    ip: str
    mac: str
    ips: tuple[str, ...]
    """First interface's first."""
    macs: tuple[str, ...]
    """eth0's first."""

    def __str__(self) -> str:
        return self.name


def context_of(topology: Topology, params: Mapping[str, object]) -> dict[str, object]:
    """Return the names: each node's own, `nodes`, `vip`, `port`, `vips`, `scheduler`, and every parameter.

    `vip` and its like are those of the first service. A node's or parameter's own name comes first.
    """
    nodes = {
        node.name: NodeWords(
            name=node.name,
            ip=str(node.own_addresses[0]) if node.own_addresses else "",
            mac=node.interfaces[0].mac if node.interfaces else "",
            ips=tuple(map(str, node.own_addresses)),
            macs=tuple(interface.mac for interface in node.interfaces),
        )
        for node in topology.nodes
    }
    found: dict[str, object] = {"nodes": nodes}
    if topology.services:
        first = topology.services[0]
        vips = tuple(dict.fromkeys(str(service.vip) for service in topology.services))
        found |= {"vip": str(first.vip), "vips": vips, "port": first.port, "scheduler": first.scheduler}
    return found | dict(topology.params) | dict(params) | nodes
