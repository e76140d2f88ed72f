"""Default gateways: those the roles imply, and those a file names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lvslab.topology.addressing import parse_address
from lvslab.topology.faults import UnusableError
from lvslab.topology.groups import require_known
from lvslab.topology.model import Address, Method, Node, Role, Topology
from lvslab.topology.reach import addresses_facing, first_of_family, shared_interfaces


def implied_gateway(node: Node, topology: Topology) -> tuple[Address, ...]:
    """Return the default gateway of a node, one address per IP version; nothing when it needs none.

    A real server behind NAT uses its director, since replies must return through it (the LVS papers, VS/NAT);
    any other node but a router uses the router on its network. Raises :class:`UnusableError` when there are several.
    """
    if node.role is Role.ROUTER:
        return ()
    gateway = _only(_nat_directors(node, topology)) or _only(
        router for router in topology.with_role(Role.ROUTER) if shared_interfaces(router, node)
    )
    return _facing(gateway, node) if gateway else ()


def named_gateway(node: Node, gateway: str, nodes: Iterable[Node]) -> tuple[Address, ...]:
    """Return the gateway that a file names by node or by address; raises :class:`UnusableError`."""
    if ":" in gateway or re.fullmatch(r"[0-9./]+", gateway):
        return (parse_address(gateway),)
    by_name = {other.name: other for other in nodes if other.name != node.name}
    require_known([gateway], list(by_name), "gateway")
    addresses = _facing(by_name[gateway], node)
    if not addresses:
        raise UnusableError(
            "gateway on no network of the node", expected="a node it shares a network with", found=repr(gateway)
        )
    return addresses


def _nat_directors(node: Node, topology: Topology) -> Iterable[Node]:
    names = {
        service.director
        for service in topology.services
        for destination in service.destinations
        if destination.method is Method.NAT and destination.node == node.name and not service.source_nat
    }
    return (other for other in topology.nodes if other.name in names)


def _only(candidates: Iterable[Node]) -> Node | None:
    found = list(candidates)
    if len(found) > 1:
        raise UnusableError(
            "several possible default gateways",
            expected="one",
            found=", ".join(each.name for each in found),
            next_step="add 'gateway:' to the node",
        )
    return found[0] if found else None


def _facing(gateway: Node, node: Node) -> tuple[Address, ...]:
    """Return the gateway's first address of each IP version that the node has, too."""
    candidates = addresses_facing(gateway, node)
    versions = sorted({address.version for address in node.own_addresses})
    found = (first_of_family(candidates, version) for version in versions)
    return tuple(address for address in found if address is not None)
