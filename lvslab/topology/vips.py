"""Who holds a virtual address, and who has to ask for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_interface

from lvslab.topology.model import Address, InterfaceAddress, Method, Protocol, Setting, Topology, VirtualService

LOOPBACK = "lo"


@dataclass(frozen=True, slots=True)
class VipHolder:
    """A node that has a VIP on one of its devices."""

    node: str
    device: str
    address: InterfaceAddress


def vip_holders(topology: Topology) -> tuple[VipHolder, ...]:
    """Return each VIP's holders: its director, and servers that must accept it on `lo` (DR, TUN: the LVS papers).

    A node holds a VIP once, however many services it has; one whose implied VIP was removed holds none.
    """
    found: dict[tuple[str, Address], VipHolder] = {}
    for service in topology.services:
        full: int = service.vip.max_prefixlen
        places = [(service.director, service.vip_device, full)]
        if service.method in (Method.DR, Method.TUN):
            prefix = service.vip_prefix or full
            places += [
                (destination.node, LOOPBACK, prefix)
                for destination in service.destinations
                if destination.method is not Method.LOCAL
            ]
        for node, device, length in places:
            if topology.node(node).has(Setting.VIP):
                address = ip_interface(f"{service.vip}/{length}")
                found.setdefault((node, service.vip), VipHolder(node, device, address))
    return tuple(found.values())


def vips_of(director: str, services: Iterable[VirtualService], port: int) -> tuple[Address, ...]:
    """Return the VIPs that a director has TCP services on at a port, each once."""
    vips = (
        each.vip for each in services if (each.director, each.protocol, each.port) == (director, Protocol.TCP, port)
    )
    return tuple(dict.fromkeys(vips))


def vip_askers(topology: Topology, vip: Address) -> tuple[str, ...]:
    """Return the nodes that ask by ARP or neighbour discovery who has `vip`: those beside its director."""
    served = {(service.director, service.vip_device) for service in topology.services if service.vip == vip}
    own = {
        destination.node for service in topology.services if service.vip == vip for destination in service.destinations
    }
    own |= {director for director, _ in served}
    networks = {
        interface.network
        for director, device in served
        for interface in topology.node(director).interfaces
        if interface.name == device
    }
    return tuple(
        node.name
        for node in topology.nodes
        if node.name not in own and any(interface.network in networks for interface in node.interfaces)
    )
