"""The settings that roles and forwarding methods imply: what makes a correct cluster short to write."""

from __future__ import annotations

from dataclasses import replace

from lvslab.topology.model import (
    ArpCure,
    Destination,
    Method,
    Node,
    Protocol,
    Role,
    Setting,
    Topology,
    VirtualService,
)
from lvslab.topology.vips import vip_askers

_REAL_SERVER: dict[Method, frozenset[Setting]] = {
    Method.NAT: frozenset(),
    Method.DR: frozenset({Setting.VIP}),
    Method.TUN: frozenset({Setting.VIP, Setting.TUNNEL, Setting.RP_FILTER}),
    Method.LOCAL: frozenset({Setting.SERVER}),
}
"""What a method needs on a real server, beyond answering (the LVS papers' tables; ip-sysctl.rst)."""

_ARP: dict[ArpCure, frozenset[Setting]] = {
    ArpCure.SYSCTLS: frozenset({Setting.ARP_IGNORE, Setting.ARP_ANNOUNCE}),
    ArpCure.ARPTABLES: frozenset({Setting.ARPTABLES}),
    ArpCure.NEIGHBOUR: frozenset(),
}
"""What a cure of the ARP problem needs on a real server that shares the network the VIP is on."""


def with_implied_settings(topology: Topology) -> Topology:
    """Return the topology with each node's settings as its role and the services it takes part in imply."""
    nodes = tuple(replace(node, settings=implied_settings(node, topology)) for node in topology.nodes)
    return replace(topology, nodes=nodes)


def implied_settings(node: Node, topology: Topology) -> frozenset[Setting]:
    settings = {Setting.DEFAULT_ROUTE} if node.gateway else set()
    if node.role is Role.ROUTER:
        settings.add(Setting.IP_FORWARD)
    if node.clamp_mss is not None:
        settings.add(Setting.CLAMP_MSS)
    if node.role is Role.REAL_SERVER:
        settings.add(Setting.SERVER)
    for service in topology.services:
        if service.director == node.name:
            settings |= _director_settings(service)
        if service.arp_cure is ArpCure.NEIGHBOUR and node.name in vip_askers(topology, service.vip):
            settings.add(Setting.NEIGHBOUR)
        for destination in service.destinations:
            if destination.node == node.name:
                settings |= _REAL_SERVER[destination.method]
                settings |= _arp(destination, service, topology)
                if service.protocol is Protocol.SCTP:
                    settings.add(Setting.SINGLE_HOMED)
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


def _arp(destination: Destination, service: VirtualService, topology: Topology) -> frozenset[Setting]:
    """A server that holds the VIP has the ARP problem; a tunnelled one only where it shares the VIP's network."""
    if destination.method is Method.TUN:
        director, node = topology.node(service.director), topology.node(destination.node)
        vip_network = next(each.network for each in director.interfaces if each.name == service.vip_device)
        shares = any(interface.network == vip_network for interface in node.interfaces)
    else:
        shares = destination.method is Method.DR
    return _ARP[service.arp_cure] if shares else frozenset()
