"""The settings that roles and forwarding methods imply: what makes a correct cluster short to write."""

from __future__ import annotations

from dataclasses import replace

from lvslab.topology.model import Destination, Method, Node, Role, Setting, Topology, VirtualService

_REAL_SERVER: dict[Method, frozenset[Setting]] = {
    Method.NAT: frozenset(),
    Method.DR: frozenset({Setting.VIP, Setting.ARP_IGNORE, Setting.ARP_ANNOUNCE}),
    Method.TUN: frozenset({Setting.VIP, Setting.TUNNEL, Setting.RP_FILTER}),
    Method.LOCAL: frozenset({Setting.SERVER}),
}
"""What a method needs on a real server, beyond answering (the LVS papers' tables; ip-sysctl.rst)."""

_ARP = frozenset({Setting.ARP_IGNORE, Setting.ARP_ANNOUNCE})


def with_implied_settings(topology: Topology) -> Topology:
    """Return the topology with each node's settings as its role and the services it takes part in imply."""
    nodes = tuple(replace(node, settings=implied_settings(node, topology)) for node in topology.nodes)
    return replace(topology, nodes=nodes)


def implied_settings(node: Node, topology: Topology) -> frozenset[Setting]:
    settings = {Setting.DEFAULT_ROUTE} if node.gateway else set()
    if node.role is Role.ROUTER:
        settings.add(Setting.IP_FORWARD)
    if node.role is Role.REAL_SERVER:
        settings.add(Setting.SERVER)
    for service in topology.services:
        if service.director == node.name:
            settings |= _director_settings(service)
        for destination in service.destinations:
            if destination.node == node.name:
                settings |= _REAL_SERVER[destination.method]
                settings |= _tunnel_arp(destination, service, topology)
    return frozenset(settings)


def _director_settings(service: VirtualService) -> frozenset[Setting]:
    """NAT forwards replies like a router, and must not redirect servers past itself; DR and TUN only send."""
    settings = {Setting.VIP}
    if service.mark is not None:
        settings.add(Setting.MARK)
    if any(destination.method is Method.NAT for destination in service.destinations):
        settings |= {Setting.IP_FORWARD, Setting.SEND_REDIRECTS}
    if service.source_nat:
        settings |= {Setting.MASQUERADE, Setting.CONNTRACK}
    return frozenset(settings)


def _tunnel_arp(destination: Destination, service: VirtualService, topology: Topology) -> frozenset[Setting]:
    """A tunnelled server has the ARP problem only where it shares the network the VIP is on."""
    director, node = topology.node(service.director), topology.node(destination.node)
    vip_network = next(each.network for each in director.interfaces if each.name == service.vip_device)
    shares = any(interface.network == vip_network for interface in node.interfaces)
    return _ARP if destination.method is Method.TUN and shares else frozenset()
