"""Virtual services: what IPVS would refuse, ignore or silently change is refused here, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

from lvslab.topology import limits
from lvslab.topology.checks.methods import check_method
from lvslab.topology.checks.nodes import is_host
from lvslab.topology.checks.service_kinds import check_kind, check_marks
from lvslab.topology.faults import Fault, KeyPath
from lvslab.topology.model import Destination, Method, Node, Protocol, Role, Topology, VirtualService
from lvslab.topology.reach import addresses_facing
from lvslab.topology.wording import did_you_mean, one_of


def check_services(topology: Topology) -> Iterator[Fault]:
    nodes = {node.name: node for node in topology.nodes}
    seen: dict[tuple[object, ...], int] = {}
    for index, service in enumerate(topology.services):
        path: KeyPath = ("services", index)
        key = (service.vip, service.protocol, service.port)
        if seen.setdefault(key, index) != index:
            found = f"{service.protocol} {service.vip} port {service.port}, as services[{seen[key]}]"
            yield Fault(path, "duplicate service", "each VIP, protocol and port once", found)
        yield from _check_numbers(service, path)
        yield from check_kind(service, path)
        yield from check_method(service, path)
        yield from _check_vip(service, topology, path)
        yield from _check_destinations(service, nodes, path)
    yield from check_marks(topology)


def _check_numbers(service: VirtualService, path: KeyPath) -> Iterator[Fault]:
    prefix = limits.IPV4_PREFIX if service.vip.version == 4 else limits.IPV6_PREFIX
    for key, number, allowed in (
        ("port", service.port, limits.PORT),
        ("persistence", service.persistence_s, limits.PERSISTENCE_S),
        ("persistence_prefix", service.persistence_prefix, prefix),
        ("mark", service.mark, limits.MARK),
        ("vip_prefix", service.vip_prefix, prefix),
    ):
        if number is not None and number not in allowed:
            yield Fault((*path, key), "number out of range", str(allowed), str(number))
    if service.scheduler not in limits.SCHEDULERS:
        yield Fault(
            (*path, "scheduler"),
            "unknown scheduler",
            one_of(limits.SCHEDULERS),
            repr(service.scheduler),
            did_you_mean(service.scheduler, limits.SCHEDULERS),
        )


def _check_vip(service: VirtualService, topology: Topology, path: KeyPath) -> Iterator[Fault]:
    path = (*path, "vip")
    director = next((node for node in topology.nodes if node.name == service.director), None)
    if director is None or director.role is not Role.DIRECTOR:
        directors = [node.name for node in topology.with_role(Role.DIRECTOR)]
        yield Fault(path, "unknown director", one_of(directors), repr(service.director))
        return
    device = next((each for each in director.interfaces if each.name == service.vip_device), None)
    subnets = [address.network for address in device.addresses] if device else []
    subnet = next((each for each in subnets if service.vip in each), None)
    if subnet is None:
        found = f"{service.vip} on {director.name}'s {service.vip_device}"
        yield Fault(path, "VIP in no network of its director", f"an address in {one_of(map(str, subnets))}", found)
    elif not is_host(service.vip, subnet.network_address, subnet.broadcast_address):
        yield Fault(
            path, "not a host's address", f"neither the first nor the last address of {subnet}", str(service.vip)
        )
    for node in topology.nodes:
        if service.vip in node.own_addresses:
            yield Fault(path, "VIP is a node's own address", "a free address", f"{service.vip} of {node.name}")


def _check_destinations(service: VirtualService, nodes: dict[str, Node], path: KeyPath) -> Iterator[Fault]:
    if not service.destinations:
        yield Fault((*path, "servers"), "service without servers", expected="at least one")
    seen: set[tuple[object, int]] = set()
    for index, destination in enumerate(service.destinations):
        item = (*path, "servers", index)
        if (destination.address, destination.port) in seen:
            found = f"{destination.node} at {destination.address} port {destination.port}"
            yield Fault(item, "duplicate server", "each server once per service", found)
        seen.add((destination.address, destination.port))
        yield from _check_destination_numbers(destination, service, item)
        yield from _check_program(nodes.get(destination.node), service, item)
        yield from _check_destination_address(destination, service, nodes, item)


def _check_destination_numbers(destination: Destination, service: VirtualService, path: KeyPath) -> Iterator[Fault]:
    if destination.port not in limits.PORT:
        yield Fault(path, "port out of range", str(limits.PORT), str(destination.port))
    elif destination.port != service.port and destination.method in (Method.DR, Method.TUN):
        yield Fault(
            path,
            f"port map with method {destination.method}",
            f"the service's port {service.port}",
            str(destination.port),
            "remove the port: the kernel would ignore it, since only NAT rewrites ports",
        )
    if destination.weight not in limits.WEIGHT:
        yield Fault(path, "weight out of range", str(limits.WEIGHT), str(destination.weight))
    if destination.upper_threshold not in limits.THRESHOLD:
        yield Fault(path, "threshold out of range", str(limits.THRESHOLD), str(destination.upper_threshold))
    if not 0 <= destination.lower_threshold <= destination.upper_threshold:
        found = f"{destination.lower_threshold} and {destination.upper_threshold}"
        yield Fault(path, "unusable thresholds", "0 ≤ lower ≤ upper", found)


def _check_program(node: Node | None, service: VirtualService, path: KeyPath) -> Iterator[Fault]:
    if node is not None and node.server == "nginx" and (service.protocol is not Protocol.TCP or service.application):
        found = f"{service.application or service.protocol} on {node.name}"
        yield Fault(path, "nginx serves HTTP over TCP alone", "'server: builtin'", found)


def _check_destination_address(
    destination: Destination, service: VirtualService, nodes: dict[str, Node], path: KeyPath
) -> Iterator[Fault]:
    node = nodes.get(destination.node)
    director = nodes.get(service.director)
    is_local = destination.method is Method.LOCAL and destination.node == service.director
    if node is None or (node.role is not Role.REAL_SERVER and not is_local):
        known = [each.name for each in nodes.values() if each.role is Role.REAL_SERVER]
        yield Fault(path, "unknown real server", one_of(known), repr(destination.node))
        return
    if destination.address not in node.own_addresses:
        own = one_of(map(str, node.own_addresses))
        yield Fault(path, "address that the server does not have", own, f"{destination.address} for {node.name}")
    elif destination.address.version != service.vip.version and destination.method is not Method.TUN:
        found = f"VIP {service.vip} and server {destination.address}"
        yield Fault(
            path, "mixed address families", "VIP and servers both IPv4 or both IPv6, unless the method is tun", found
        )
    elif director is not None:
        yield from _check_reach(destination, node, director, path)


def _check_reach(destination: Destination, node: Node, director: Node, path: KeyPath) -> Iterator[Fault]:
    direct = destination.address in addresses_facing(node, director)
    if destination.method is Method.TUN:
        if not (direct or director.gateway or any(destination.address in r.to for r in director.routes if r.to)):
            yield Fault(
                path,
                "server that the director has no route to",
                f"a default gateway or a route to {destination.address} on {director.name}",
                "none",
                "add a router, or 'routes:' to the director",
            )
    elif not direct:
        yield Fault(
            path,
            f"server out of the director's reach: {destination.method} needs a shared network",
            f"a server on a network of {director.name}",
            node.name,
        )
