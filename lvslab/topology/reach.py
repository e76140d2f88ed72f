"""Who reaches whom without a router: addresses that two nodes have on a network they share."""

from __future__ import annotations

from lvslab.topology.model import Address, Interface, Network, Node


def shared_interfaces(node: Node, other: Node) -> tuple[Interface, ...]:
    """Return the interfaces of `node` on networks where `other` is, too."""
    networks = {interface.network for interface in other.interfaces}
    return tuple(interface for interface in node.interfaces if interface.network in networks)


def addresses_facing(node: Node, other: Node) -> tuple[Address, ...]:
    """Return the addresses of `node` that `other` reaches directly, in the order of its interfaces."""
    return tuple(address.ip for interface in shared_interfaces(node, other) for address in interface.addresses)


def interface_facing(node: Node, address: Address) -> Interface | None:
    """Return the node's interface whose subnet holds `address`, if there is one."""
    for interface in node.interfaces:
        if any(address in own.network for own in interface.addresses):
            return interface
    return None


def network_holding(networks: tuple[Network, ...], address: Address) -> Network | None:
    """Return the network whose subnet holds `address`, if there is one."""
    for network in networks:
        if any(address in subnet for subnet in network.subnets):
            return network
    return None


def first_of_family(addresses: tuple[Address, ...], version: int) -> Address | None:
    """Return the first address of an IP version (4 or 6), if there is one."""
    return next((address for address in addresses if address.version == version), None)
