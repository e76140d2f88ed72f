"""The nodes of a document: groups unfolded, interfaces named and addressed; gateways and settings come later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from lvslab.topology.addressing import (
    host_addresses,
    mac_address,
    parse_address,
    parse_interface_address,
    parse_subnet,
)
from lvslab.topology.document import Document, NodeEntry
from lvslab.topology.faults import Collector, UnusableError
from lvslab.topology.groups import expand, require_known
from lvslab.topology.model import DEFAULT_MTU, UNSHAPED, Interface, InterfaceAddress, Network, Node, Role, Route
from lvslab.topology.shaping import EVERY, parse_delay, parse_rate, shaping_of

_Parsed = TypeVar("_Parsed")


def unfold_groups(document: Document, collect: Collector) -> dict[str, str]:
    """Return the names of all nodes in order, each with the key of `nodes:` it was written under."""
    groups: dict[str, str] = {}
    for key in document.nodes:
        with collect.at("nodes", key):
            for name in expand(key):
                if name in groups:
                    raise UnusableError("duplicate node", found=f"{name} also in {groups[name]!r}")
                groups[name] = key
                collect.written["nodes", name] = ("nodes", key)
    return groups


def resolve_nodes(
    document: Document, networks: tuple[Network, ...], groups: Mapping[str, str], collect: Collector
) -> tuple[Node, ...]:
    known = {network.name: network for network in networks}
    members: dict[str, list[str]] = {}
    for name, key in groups.items():
        members.setdefault(key, []).append(name)
    nodes: list[Node] = []
    for key, names in members.items():
        entry = document.nodes[key]
        for position, name in enumerate(names):
            interfaces = _interfaces(name, entry, known, (len(nodes) + 1, position, len(names)), collect)
            nodes.append(_node(name, entry, interfaces, collect))
    return tuple(nodes)


def _node(name: str, entry: NodeEntry, interfaces: tuple[Interface, ...], collect: Collector) -> Node:
    default_server = "builtin" if entry.role is Role.REAL_SERVER else None
    return Node(
        name=name,
        role=entry.role,
        interfaces=interfaces,
        settings=frozenset(),
        routes=_routes(name, entry, collect),
        addresses=_further_addresses(name, entry, collect),
        sysctls=tuple(entry.sysctls.items()),
        drop=frozenset(entry.drop),
        clamp_mss=entry.clamp_mss,
        server=entry.server or default_server,
    )


def _interfaces(
    name: str, entry: NodeEntry, networks: Mapping[str, Network], place: tuple[int, int, int], collect: Collector
) -> tuple[Interface, ...]:
    """Make the interfaces of a node; `place` is its number, its position in its group, and the group's size."""
    number, position, group_size = place
    rates = _of_cards(name, "rate", entry.rate, entry, parse_rate, collect)
    delays = _of_cards(name, "delay", entry.delay, entry, parse_delay, collect)
    interfaces: list[Interface] = []
    for network, hosts in entry.on.items():
        addresses: tuple[InterfaceAddress, ...] = ()
        with collect.at("nodes", name, "on", network):
            require_known([network], list(networks), "network")
            addresses = host_addresses(hosts, networks[network].subnets, position, group_size)
        index = len(interfaces)
        of_network = networks[network].shaping if network in networks else UNSHAPED
        shaping = shaping_of(of_network, rates, delays, network)
        mtu = networks[network].mtu if network in networks else DEFAULT_MTU
        interfaces.append(Interface(f"eth{index}", network, mac_address(number, index), addresses, shaping, mtu))
    return tuple(interfaces)


def _of_cards(
    name: str,
    key: str,
    texts: Mapping[str, str] | None,
    entry: NodeEntry,
    parse: Callable[[str], _Parsed],
    collect: Collector,
) -> dict[str, _Parsed]:
    """Parse what a node says of its cards, by network."""
    parsed = {}
    for network, text in (texts or {}).items():
        with collect.at("nodes", name, key, *(() if network == EVERY else (network,))):
            if network != EVERY:
                require_known([network], list(entry.on), "network")
            parsed[network] = parse(text)
    return parsed


def _routes(name: str, entry: NodeEntry, collect: Collector) -> tuple[Route, ...]:
    routes = []
    for index, route in enumerate(entry.routes):
        with collect.at("nodes", name, "routes", index):
            routes.append(Route(parse_subnet(route.to), parse_address(route.via)))
    return tuple(routes)


def _further_addresses(name: str, entry: NodeEntry, collect: Collector) -> tuple[tuple[str, InterfaceAddress], ...]:
    addresses = []
    for device, texts in entry.addresses.items():
        for text in texts:
            with collect.at("nodes", name, "addresses", device):
                addresses.append((device, parse_interface_address(text)))
    return tuple(addresses)
