"""Networks: their subnets are usable and apart from each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from lvslab.topology import limits
from lvslab.topology.faults import Fault
from lvslab.topology.model import Network, Subnet


def check_networks(networks: tuple[Network, ...]) -> Iterator[Fault]:
    for network in networks:
        yield from _check_subnets(network)
        if network.mtu not in limits.MTU:
            yield Fault(("networks", network.name, "mtu"), "number out of range", str(limits.MTU), str(network.mtu))
    subnets = [(network, subnet) for network in networks for subnet in network.subnets]
    for (network, subnet), (other_network, other) in combinations(subnets, 2):
        if subnet.version == other.version and subnet.overlaps(other):
            yield Fault(
                ("networks", other_network.name),
                "overlapping subnets",
                expected="subnets apart from each other",
                found=f"{other} and {subnet} of {network.name}",
            )


def _check_subnets(network: Network) -> Iterator[Fault]:
    path = ("networks", network.name)
    if not network.subnets:
        yield Fault(path, "network without a subnet", expected="one subnet, or one per IP version")
    for version in (4, 6):
        same = [str(subnet) for subnet in network.subnets if subnet.version == version]
        if len(same) > 1:
            yield Fault(path, f"several IPv{version} subnets", expected="at most one", found=", ".join(same))
    for subnet in network.subnets:
        if _reserved(subnet):
            yield Fault(
                path,
                "subnet with a meaning of its own",
                expected="a range for hosts, such as 203.0.113.0/24",
                found=str(subnet),
            )


def _reserved(subnet: Subnet) -> bool:
    """Tell whether the kernel treats the subnet specially: loopback, multicast, link-local, 0/8, 240/4 (RFC 6890)."""
    first = subnet.network_address
    return (
        first.is_loopback
        or first.is_multicast
        or first.is_link_local
        or first.is_unspecified
        or (first.version == 4 and (first.is_reserved or first.packed[0] == 0))
        or subnet.prefixlen == 0
    )
