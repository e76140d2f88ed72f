"""What an engine with switches of its own cannot hold."""

from __future__ import annotations

from lvslab.errors import BadInput
from lvslab.topology.model import DEFAULT_MTU, Topology


def check_plain(topology: Topology, engine: str) -> None:
    """Refuse what would have to be set at a switch's ports. Raises BadInput."""
    interfaces = [interface for node in topology.nodes for interface in node.interfaces]
    shaped = sorted({each.network for each in interfaces if each.shaping})
    large = sorted({each.network for each in interfaces if each.mtu > DEFAULT_MTU})
    if shaped:
        raise _refusal(topology, engine, "cards with a rate or a delay", shaped)
    if large:
        raise _refusal(topology, engine, f"an MTU above {DEFAULT_MTU}", large)


def _refusal(topology: Topology, engine: str, what: str, networks: list[str]) -> BadInput:
    return BadInput(
        f"{engine} has switches of its own, at which this cannot be set",
        where=topology.source,
        found=f"{what} on {', '.join(networks)}",
        next_step="containerlab can: lvslab export containerlab",
    )
