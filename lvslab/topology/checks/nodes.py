"""Nodes: interfaces, addresses, routes and sysctls fit the networks and each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from lvslab.topology.faults import Fault
from lvslab.topology.limits import MSS, SERVER_KINDS
from lvslab.topology.model import Address, InterfaceAddress, Network, Node, Protocol, Role, Topology, VirtualService
from lvslab.topology.reach import interface_facing
from lvslab.topology.wording import did_you_mean, one_of, shown

_SYSCTL = re.compile(r"net(\.[A-Za-z0-9_-]+){2,}")
_FIXED_DEVICES = ("lo", "tunl0", "ip6tnl0", "gre0", "ip6tnl1")


def check_nodes(topology: Topology) -> Iterator[Fault]:
    networks = {network.name: network for network in topology.networks}
    for node in topology.nodes:
        yield from _check_interfaces(node, networks)
        yield from _check_next_hops(node)
        yield from _check_extras(node)
        yield from _check_server(node)
        yield from _check_firewall(node, topology)
    yield from _check_unique(topology)


def _check_interfaces(node: Node, networks: dict[str, Network]) -> Iterator[Fault]:
    if not node.interfaces:
        yield Fault(("nodes", node.name, "on"), "node on no network", expected=one_of(networks))
    for network, count in Counter(interface.network for interface in node.interfaces).items():
        if count > 1:
            yield Fault(("nodes", node.name, "on", network), "two interfaces on one network", expected="one")
    for interface in node.interfaces:
        path = ("nodes", node.name, "on", interface.network)
        if interface.network not in networks:
            yield Fault(path, "unknown network", one_of(networks), repr(interface.network))
        elif not interface.addresses:
            yield Fault(path, "interface without an address", expected="a host number or an address")
        else:
            for address in interface.addresses:
                yield from _check_address(path, address, networks[interface.network])


def _check_address(path: tuple[str, ...], address: InterfaceAddress, network: Network) -> Iterator[Fault]:
    if address.network not in network.subnets:
        subnets = " or ".join(map(str, network.subnets))
        yield Fault(path, "address outside its network", f"one in {subnets}", str(address))
    elif not is_host(address.ip, address.network.network_address, address.network.broadcast_address):
        yield Fault(path, "not a host's address", "neither the first nor the last address of the subnet", str(address))


def is_host(address: Address, network_address: Address, broadcast_address: Address) -> bool:
    """Tell whether an address of a subnet can be a host's.

    The first one is the subnet's own (RFC 1122, 3.2.1.3; RFC 4291, 2.6.1: the subnet-router anycast address); the
    last one is IPv4's broadcast. IPv6 has no broadcast, but its last addresses are reserved, too (RFC 2526).
    """
    return address not in (network_address, broadcast_address)


def _check_next_hops(node: Node) -> Iterator[Fault]:
    for gateway in node.gateway:
        yield from _check_next_hop(("nodes", node.name, "gateway"), gateway, node)
    for index, route in enumerate(node.routes):
        path = ("nodes", node.name, "routes", index)
        yield from _check_next_hop(path, route.via, node)
        if route.to is not None and route.to.version != route.via.version:
            yield Fault(path, "mixed address families", expected="IPv4 via IPv4, or IPv6 via IPv6")


def _check_next_hop(path: tuple[str | int, ...], via: Address, node: Node) -> Iterator[Fault]:
    if interface_facing(node, via) is None:
        subnets = [str(address.network) for each in node.interfaces for address in each.addresses]
        yield Fault(path, "next hop on no network of the node", f"an address in {one_of(subnets)}", str(via))
    elif via in node.own_addresses:
        yield Fault(path, "next hop is the node itself", expected="another node's address", found=str(via))


def _check_extras(node: Node) -> Iterator[Fault]:
    devices = (*(interface.name for interface in node.interfaces), *_FIXED_DEVICES)
    for device, _ in node.addresses:
        if device not in devices:
            yield Fault(("nodes", node.name, "addresses", device), "unknown device", one_of(devices), repr(device))
    for key, value in node.sysctls:
        path = ("nodes", node.name, "sysctls", key)
        if not _SYSCTL.fullmatch(key):
            expected = "one below net, the part that a network namespace has of its own: net.ipv4.conf.all.rp_filter"
            yield Fault(path, "unusable sysctl", expected, repr(key))
        if not value.strip() or not value.isprintable():
            yield Fault(path, "unusable value", expected="a number or words on one line", found=shown(value))


def _check_server(node: Node) -> Iterator[Fault]:
    path = ("nodes", node.name, "server")
    if node.server is None:
        return
    if node.role is not Role.REAL_SERVER:
        yield Fault(path, "'server' on a node that serves nothing", "role real-server", str(node.role))
    elif node.server not in SERVER_KINDS:
        next_step = did_you_mean(node.server, SERVER_KINDS)
        yield Fault(path, "unknown server", one_of(SERVER_KINDS), repr(node.server), next_step)


def _check_firewall(node: Node, topology: Topology) -> Iterator[Fault]:
    """What it drops and changes must be there to be seen: packets of IPv4, and SYNs (iptables-extensions(8))."""
    if node.clamp_mss is not None:
        path = ("nodes", node.name, "clamp_mss")
        if node.clamp_mss not in MSS:
            yield Fault(path, "number out of range", str(MSS), str(node.clamp_mss))
        if not any(_is_of(service, 4) and service.protocol is Protocol.TCP for service in topology.services):
            yield Fault(path, "nothing to clamp", expected="a TCP service over IPv4: only SYNs of TCP carry an MSS")
    if node.drop and not any(_is_of(service, 4) for service in topology.services):
        path = ("nodes", node.name, "drop")
        yield Fault(path, "nothing to drop", expected="a service over IPv4: it drops packets of IPv4")


def _is_of(service: VirtualService, version: int) -> bool:
    return version in (service.vip.version, *(destination.address.version for destination in service.destinations))


def _check_unique(topology: Topology) -> Iterator[Fault]:
    holders: dict[Address | str, str] = {}
    for node in topology.nodes:
        for interface in node.interfaces:
            path = ("nodes", node.name, "on", interface.network)
            for address in interface.addresses:
                if address.ip in holders:
                    found = f"{address.ip} of {node.name} and {holders[address.ip]}"
                    yield Fault(path, "duplicate address", "each address once", found)
                holders[address.ip] = node.name
            if interface.mac in holders:
                found = f"{interface.mac} of {node.name} and {holders[interface.mac]}"
                yield Fault(path, "duplicate MAC address", "each MAC address once", found)
            holders[interface.mac] = node.name
