"""The virtual services of a document: director, VIP's device and destinations found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lvslab.topology.addressing import parse_address
from lvslab.topology.document import Document, ServerEntry, ServiceEntry
from lvslab.topology.faults import Collector, KeyPath, UnusableError
from lvslab.topology.groups import require_known, select
from lvslab.topology.model import (
    IPIP,
    Address,
    Destination,
    Interface,
    Method,
    Network,
    Node,
    Role,
    Tunnel,
    TunnelKind,
    VirtualService,
)
from lvslab.topology.reach import addresses_facing, first_of_family, interface_facing, network_holding
from lvslab.topology.tunnels import GUE_PORT
from lvslab.topology.wording import one_of


@dataclass(frozen=True, slots=True)
class _Asked:
    """One service as the document asks for it, and what it may refer to."""

    entry: ServiceEntry
    path: KeyPath
    networks: tuple[Network, ...]
    nodes: tuple[Node, ...]
    collect: Collector

    @property
    def method(self) -> Method:
        return Method(self.entry.method)

    def with_role(self, role: Role) -> dict[str, Node]:
        return {node.name: node for node in self.nodes if node.role is role}


def resolve_services(
    document: Document, networks: tuple[Network, ...], nodes: tuple[Node, ...], collect: Collector
) -> tuple[VirtualService, ...]:
    services = []
    for index, entry in enumerate(document.services):
        asked = _Asked(entry, ("services", index), networks, nodes, collect)
        director = None
        with collect.at(*asked.path, "director"):
            director = _named_director(asked)
        with collect.at(*asked.path, "vip"):
            vip = parse_address(entry.vip)
            services.append(_service(asked, vip, director or _director_near(asked, vip)))
    return tuple(services)


def _service(asked: _Asked, vip: Address, director: Node) -> VirtualService:
    entry = asked.entry
    return VirtualService(
        director=director.name,
        vip=vip,
        vip_device=_vip_interface(director, vip).name,
        protocol=entry.protocol,
        port=entry.port,
        method=asked.method,
        scheduler=entry.scheduler,
        destinations=_destinations(asked, vip, director),
        persistence_s=entry.persistence,
        vip_prefix=entry.vip_prefix,
        persistence_prefix=entry.persistence_prefix,
        one_packet=entry.one_packet,
        mark=entry.mark,
        flags=frozenset(entry.flags),
        application=entry.application,
        source_nat=entry.source_nat,
        arp_cure=entry.arp_cure,
    )


def _named_director(asked: _Asked) -> Node | None:
    """Return the director a service names, if it names one."""
    name = asked.entry.director
    if name is None:
        return None
    directors = asked.with_role(Role.DIRECTOR)
    require_known([name], list(directors), "director")
    return directors[name]


def _director_near(asked: _Asked, vip: Address) -> Node:
    """Return the only director on the network that holds the VIP."""
    directors = asked.with_role(Role.DIRECTOR)
    network = network_holding(asked.networks, vip)
    if network is None:
        subnets = [str(subnet) for each in asked.networks for subnet in each.subnets]
        raise UnusableError("VIP in no network", expected=f"an address in {one_of(subnets)}", found=str(vip))
    near = [node for node in directors.values() if network.name in {each.network for each in node.interfaces}]
    if not near:
        raise UnusableError(
            "no director on the VIP's network",
            expected=f"a node with role director on {network.name}",
            found="none",
            next_step="move the VIP to a network of the director",
        )
    if len(near) > 1:
        raise UnusableError(
            "several directors on the VIP's network",
            expected="one",
            found=", ".join(node.name for node in near),
            next_step="add 'director:' to the service",
        )
    return near[0]


def _vip_interface(director: Node, vip: Address) -> Interface:
    interface = interface_facing(director, vip)
    if interface is None:
        subnets = [str(address.network) for each in director.interfaces for address in each.addresses]
        raise UnusableError(
            "VIP in no network of its director",
            expected=f"an address in {one_of(subnets)}",
            found=f"{vip} on {director.name}",
        )
    return interface


@dataclass(frozen=True, slots=True)
class _Chosen:
    """One server of a service, and the item of `servers:` that chose it."""

    node: Node
    item: ServerEntry
    path: KeyPath


def _destinations(asked: _Asked, vip: Address, director: Node) -> tuple[Destination, ...]:
    chosen = list(_chosen(asked, director))
    destinations: list[Destination] = []
    for each, weight in zip(chosen, _weights(asked, chosen), strict=True):
        with asked.collect.at(*each.path):
            method = Method.LOCAL if each.node is director else asked.method
            version = (asked.entry.tunnel_ip if method is Method.TUN else None) or vip.version
            address = _destination_address(method, version, each.node, director)
            port = asked.entry.port if each.item.port is None else each.item.port
            asked.collect.written[*asked.path, "servers", len(destinations)] = each.path
            destinations.append(
                Destination(
                    each.node.name,
                    address,
                    port,
                    method,
                    weight,
                    each.item.upper,
                    each.item.lower,
                    _tunnel(asked, method),
                )
            )
    return tuple(destinations)


def _chosen(asked: _Asked, director: Node) -> Iterator[_Chosen]:
    """Yield the servers in order; the director itself only where it is named, never by a pattern."""
    real_servers = asked.with_role(Role.REAL_SERVER)
    for index, item in enumerate(asked.entry.servers):
        path: KeyPath = (*asked.path, "servers", index)
        if item.node == director.name:
            yield _Chosen(director, item, path)
            continue
        names: tuple[str, ...] = ()
        with asked.collect.at(*path):
            names = select(item.node, list(real_servers), "real server")
        for name in names:
            yield _Chosen(real_servers[name], item, path)


def _weights(asked: _Asked, chosen: Sequence[_Chosen]) -> list[int]:
    own = [each.item.weight for each in chosen]
    given = asked.entry.weights
    if given is None:
        return [1 if weight is None else weight for weight in own]
    with asked.collect.at(*asked.path, "weights"):
        if any(weight is not None for weight in own):
            raise UnusableError("weights given twice", expected="'weights:', or 'weight:' per server", found="both")
        if len(given) != len(chosen):
            raise UnusableError(
                "wrong number of weights", expected=f"{len(chosen)}, one per server", found=str(len(given))
            )
        return given
    return [1] * len(chosen)


def _tunnel(asked: _Asked, method: Method) -> Tunnel:
    entry = asked.entry
    if method is Method.LOCAL:
        return IPIP
    return Tunnel(entry.tunnel, GUE_PORT if entry.tunnel is TunnelKind.GUE else 0, entry.tunnel_checksum)


def _destination_address(method: Method, version: int, node: Node, director: Node) -> Address:
    """Return the address the director sends to: any of the server's for a tunnel, else one on a shared network."""
    candidates = node.own_addresses if method is Method.TUN else addresses_facing(node, director)
    address = first_of_family(candidates, version)
    if address is not None:
        return address
    if first_of_family(node.own_addresses, version) is None:
        raise UnusableError(
            "server without an address of the VIP's family", expected=f"an IPv{version} address", found=node.name
        )
    raise UnusableError(
        f"server out of the director's reach: {method} needs a shared network",
        expected=f"a server on a network of {director.name}",
        found=node.name,
        next_step=f"put it on a network of {director.name}, or use method tun",
    )
