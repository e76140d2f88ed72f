"""What there is to say about one node: its addresses, the VIPs it holds, its default route, and what is unusual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from lvslab.report.graph.phrases import GraphPhrases
from lvslab.report.printable import printable
from lvslab.topology.implied import implied_settings
from lvslab.topology.model import Address, Node, Role, Route, Setting, Topology
from lvslab.topology.vips import vip_holders

_ADDRESS_LABELS = {Role.CLIENT: "CIP", Role.DIRECTOR: "DIP", Role.REAL_SERVER: "RIP"}
_USUAL_SERVER = "builtin"


class Mark(StrEnum):
    """What a fact is: a fault shows as one."""

    PLAIN = "plain"
    REMOVED = "removed"
    """An implied setting that ``without:`` took away."""
    BY_HAND = "by-hand"
    """A sysctl or route that the file adds to what is implied."""


SIGNS = {Mark.PLAIN: "", Mark.REMOVED: "✗ ", Mark.BY_HAND: "! "}


@dataclass(frozen=True, slots=True)
class Fact:
    """One line about a node; an address has a device, and a label such as RIP."""

    text: str
    mark: Mark = Mark.PLAIN
    device: str = ""
    label: str = ""


def own_addresses(node: Node) -> tuple[Fact, ...]:
    """Return the addresses on the node's interfaces, labelled CIP, DIP or RIP after its role (the LVS papers)."""
    label = _ADDRESS_LABELS.get(node.role, "")
    return tuple(
        Fact(str(address.ip), device=interface.name, label=label)
        for interface in node.interfaces
        for address in interface.addresses
    )


def further_facts(node: Node, topology: Topology, say: GraphPhrases) -> tuple[Fact, ...]:
    """Return everything else, the unusual last."""
    return (
        *_vips(node, topology),
        *(Fact(_with_prefix(each.ip, each.network.prefixlen), device=device) for device, each in node.addresses),
        *_roles_extras(node, topology, say),
        *(Fact(setting, Mark.REMOVED) for setting in removed_settings(node, topology)),
        *(Fact(_route(each, topology, say), Mark.BY_HAND) for each in node.routes),
        *(Fact(printable(f"{key}={value}"), Mark.BY_HAND) for key, value in node.sysctls),
    )


def removed_settings(node: Node, topology: Topology) -> tuple[Setting, ...]:
    """Return the settings that role and services imply and the node lacks."""
    removed = implied_settings(node, topology) - node.settings
    return tuple(setting for setting in Setting if setting in removed)


def _vips(node: Node, topology: Topology) -> Iterator[Fact]:
    for holder in vip_holders(topology):
        if holder.node == node.name:
            prefix = holder.address.network.prefixlen
            yield Fact(_with_prefix(holder.address.ip, prefix), device=holder.device, label="VIP")


def _with_prefix(address: Address, prefix: int) -> str:
    """Return an address, with its prefix length unless it is a host address."""
    return str(address) if prefix == address.max_prefixlen else f"{address}/{prefix}"


def _roles_extras(node: Node, topology: Topology, say: GraphPhrases) -> Iterator[Fact]:
    if node.server is not None and node.server != _USUAL_SERVER:
        yield Fact(say.served_with.format(server=node.server))
    if node.has(Setting.DEFAULT_ROUTE):
        vias = dict.fromkeys(_owner(gateway, topology) for gateway in node.gateway)
        yield from (Fact(say.default_via.format(via=via)) for via in vias)


def _route(route: Route, topology: Topology, say: GraphPhrases) -> str:
    via = _owner(route.via, topology)
    return say.default_route.format(via=via) if route.to is None else say.route.format(to=route.to, via=via)


def _owner(address: Address, topology: Topology) -> str:
    """Return the node that has an address, else the address."""
    return next((node.name for node in topology.nodes if address in node.own_addresses), str(address))
