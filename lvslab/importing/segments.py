"""The networks that addresses may lie in: guessed, since no table says them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Final

from lvslab.errors import BadInput
from lvslab.importing.carried import CarriedService
from lvslab.topology.model import Address, Method, Subnet

USUAL_PREFIX: Final = {4: 24, 6: 64}
SPARE_HOSTS: Final = 2
"""A director and a router."""
CLIENT_SUBNETS: Final = (
    *("203.0.113.0/24", "198.51.100.0/24", "192.0.2.0/24", "198.18.0.0/24"),
    *("2001:db8:c11e::/64", "2001:db8:c11f::/64"),
)
"""Ranges for documentation and benchmarks (RFC 5737, RFC 3849, RFC 2544)."""


@dataclass(slots=True)
class Segment:
    """One network: who is on it, and which addresses it needs."""

    subnet: Subnet
    vips: set[Address] = field(default_factory=set)
    methods: set[Method] = field(default_factory=set)
    taken: set[Address] = field(default_factory=set)

    @property
    def has_director(self) -> bool:
        """The VIP is the director's; NAT and DR reach servers without a router."""
        return bool(self.vips) or bool(self.methods & {Method.NAT, Method.DR})

    @property
    def has_router(self) -> bool:
        """Clients reach the VIP, and servers of DR and TUN the clients, through the router."""
        return bool(self.vips) or bool(self.methods & {Method.DR, Method.TUN})

    def free_address(self) -> Address:
        """Take the first free host address."""
        address = next(address for address in self.subnet.hosts() if address not in self.taken)
        self.taken.add(address)
        return address


def make_segments(services: Iterable[CarriedService]) -> tuple[Segment, ...]:
    """Return networks for all VIPs and servers, in order of address. Raises BadInput if they need all of a family."""
    services = tuple(services)
    needed = {service.key.address for service in services}
    needed |= {destination.address for service in services for destination in service.destinations}
    segments = tuple(Segment(subnet, taken={each for each in needed if each in subnet}) for subnet in _subnets(needed))
    for service in services:
        _holding(segments, service.key.address).vips.add(service.key.address)
        for destination in service.destinations:
            _holding(segments, destination.address).methods.add(destination.method)
    return segments


def client_subnets(segments: Sequence[Segment]) -> tuple[Subnet, ...]:
    """Return one subnet of each family in use that no segment overlaps."""
    subnets = []
    for version in sorted({segment.subnet.version for segment in segments}):
        taken = [segment.subnet for segment in segments if segment.subnet.version == version]
        candidates = (ip_network(text) for text in CLIENT_SUBNETS)
        free = (
            candidate
            for candidate in candidates
            if candidate.version == version and not any(candidate.overlaps(each) for each in taken)
        )
        found = next(free, None)
        if found is None:
            raise BadInput(f"no IPv{version} network left for clients", found=", ".join(map(str, taken)))
        subnets.append(found)
    return tuple(subnets)


def _holding(segments: Sequence[Segment], address: Address) -> Segment:
    return next(segment for segment in segments if address in segment.subnet)


def _subnets(addresses: Iterable[Address]) -> list[Subnet]:
    """Return a usual subnet around each address, wider where it would be no host's, or too full; none overlap."""
    waiting = [ip_network((address, USUAL_PREFIX[address.version]), strict=False) for address in addresses]
    addresses = set(addresses)
    done: set[Subnet] = set()
    while waiting:
        subnet = waiting.pop()
        members = [address for address in addresses if address in subnet]
        overlapping = {each for each in done if each.version == subnet.version and each.overlaps(subnet)}
        if not _holds(subnet, members):
            if subnet.prefixlen == 1:
                raise BadInput("addresses that no network can hold", found=str(members[0]))
            waiting.append(subnet.supernet())
        elif any(each.prefixlen <= subnet.prefixlen for each in overlapping):
            continue
        else:
            done = (done - overlapping) | {subnet}
    return sorted(done, key=lambda subnet: (subnet.version, subnet))


def _holds(subnet: Subnet, members: Sequence[Address]) -> bool:
    ends = (subnet.network_address, subnet.broadcast_address)
    return not any(member in ends for member in members) and len(members) + SPARE_HOSTS <= subnet.num_addresses - 2
