"""What unwraps a tunnelled packet at a real server, by kind of tunnel and IP version of the outer header."""

from __future__ import annotations

from lvslab.topology.model import Destination, Method, Node, Topology, TunnelKind

GUE_PORT = 6080
"""UDP port that IANA assigned to Generic UDP Encapsulation."""
IP6TNL = "ip6tnl1"
"""A device of our own: the kernel's ip6tnl0 takes IPv6 in IPv6 only (net/ipv6/ip6_tunnel.c: ip6_tnl_dev_init_gen)."""

_DEVICES = {
    (TunnelKind.IPIP, 4): "tunl0",
    (TunnelKind.GUE, 4): "tunl0",
    (TunnelKind.GRE, 4): "gre0",
    (TunnelKind.IPIP, 6): IP6TNL,
}
MODULES = {"tunl0": "ipip", "gre0": "ip_gre", IP6TNL: "ip6_tunnel"}
"""Kernel module by device."""


def tunnel_device(destination: Destination) -> str | None:
    """Return the device that unwraps what is sent to a destination; None for what lvslab has no device for."""
    return _DEVICES.get((destination.tunnel.kind, destination.address.version))


def tunnelled(node: Node, topology: Topology) -> tuple[Destination, ...]:
    """Return the TUN destinations that a node is, in the order of the services."""
    return tuple(
        destination
        for service in topology.services
        for destination in service.destinations
        if destination.node == node.name and destination.method is Method.TUN
    )


def tunnel_devices(node: Node, topology: Topology) -> tuple[str, ...]:
    """Return the devices that a node needs to unwrap what is sent to it, each once."""
    devices = (tunnel_device(destination) for destination in tunnelled(node, topology))
    return tuple(dict.fromkeys(device for device in devices if device is not None))


def receives_gue(node: Node, topology: Topology) -> bool:
    return any(destination.tunnel.kind is TunnelKind.GUE for destination in tunnelled(node, topology))
