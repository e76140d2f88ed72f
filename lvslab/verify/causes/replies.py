"""Why a real server's reply did not come back to the client as it should."""

from __future__ import annotations

from lvslab.topology.model import Address, Node, Role, VirtualService
from lvslab.verify.causes.cause import Cause, does_not_forward, facts_of
from lvslab.verify.causes.servers import wide_vip_of
from lvslab.verify.evidence import Evidence
from lvslab.walk.model import Hop


def off_path(evidence: Evidence, service: VirtualService, node: str, next_node: str) -> Cause:
    """A NAT server's reply left by another way than the director."""
    director = evidence.topology.node(service.director)
    clients = [client for client in evidence.topology.with_role(Role.CLIENT) if client.name == next_node]
    near = [address for client in clients for address in _shared_addresses(client, evidence.topology.node(node))]
    if near:
        to, via = near[0], _shared_addresses(director, evidence.topology.node(node))[0]
        return Cause(
            f"{next_node} is on a network of {node}, which answers its neighbours directly, past {service.director}",
            f"on {node}: ip route replace {to}/{to.max_prefixlen} via {via}, or put {next_node} on another network",
        )
    wanted = " or ".join(map(str, _shared_addresses(director, evidence.topology.node(node))))
    facts = facts_of(evidence, node)
    has = f" (it has {', '.join(facts.gateways)})" if facts and facts.gateways else ""
    return Cause(
        f"the default gateway of {node} is not {service.director}{has}: its replies go by {next_node} and keep its "
        "own address, which the client never asked",
        f"on {node}: ip route replace default via {wanted}",
    )


def _shared_addresses(one: Node, other: Node) -> list[Address]:
    """Return the addresses of `one` on networks that `other` is on too."""
    networks = {interface.network for interface in other.interfaces}
    return [
        address.ip for interface in one.interfaces if interface.network in networks for address in interface.addresses
    ]


def by_way_of_director(evidence: Evidence, service: VirtualService, node: str, end: Hop) -> Cause:
    """A DR or TUN server's reply went to the director, and was last seen at `end`."""
    director = service.director
    dropped = (
        f"; {director} holds {service.vip} itself and drops what comes from there with that source (a martian source)"
        if end.node == director
        else ""
    )
    routers = [
        str(address)
        for other in evidence.topology.with_role(Role.ROUTER)
        for address in _shared_addresses(other, evidence.topology.node(node))
    ]
    via = " or ".join(routers) or "a router other than the director"
    return Cause(
        f"the default gateway of {node} is {director}{dropped}", f"on {node}: ip route replace default via {via}"
    )


def kept_by_director(evidence: Evidence, service: VirtualService) -> Cause:
    """A NAT reply reached the director and went no further."""
    director = service.director
    known = does_not_forward(evidence, director)
    if known is not None:
        return known
    if facts_of(evidence, director) is None:
        return Cause(f"likely: ip_forward is 0 on {director}", f"on {director}: sysctl net.ipv4.ip_forward")
    return Cause(f"a packet filter of {director} drops forwarded packets", f"on {director}: iptables -S FORWARD")


def lost(evidence: Evidence, service: VirtualService, end: Hop) -> Cause:
    """A reply came as far as `end` and no further."""
    wide = wide_vip_of(evidence, service, end.node)
    if wide is not None:
        return wide
    if end.node in {destination.node for destination in service.destinations}:
        return Cause(f"{end.node} sends it where nobody takes it", f"on {end.node}: ip route, ip neigh")
    return does_not_forward(evidence, end.node) or Cause(
        f"{end.node} has no way to the client, or takes {service.vip} for its own", f"on {end.node}: ip route"
    )
