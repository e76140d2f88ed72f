"""A network around a table: a client, a router, the director and the real servers, each where it must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lvslab.importing.carried import CarriedService
from lvslab.importing.segments import Segment, client_subnets, make_segments
from lvslab.topology.model import Address, Method, Role, Subnet

CLIENTS: Final = "clients"
_BY_METHOD: Final = {
    Method.NAT: "nat: the director is the default gateway of the servers",
    Method.DR: "dr: director and servers share a network, servers hold the VIP on lo and do not answer ARP for it",
    Method.TUN: "tun: the director reaches servers on other networks through the router, and they unwrap IP in IP",
}


@dataclass(frozen=True, slots=True)
class LaidNode:
    """`on`: by network, the node's addresses there."""

    name: str
    role: Role
    on: Mapping[str, tuple[Address, ...]]


@dataclass(frozen=True, slots=True)
class Layout:
    networks: Mapping[str, tuple[Subnet, ...]]
    nodes: tuple[LaidNode, ...]
    names: Mapping[Address, str]
    """Real servers by address."""
    assumptions: tuple[str, ...]


def lay_out(services: Sequence[CarriedService]) -> Layout:
    """Invent what a table does not say. Raises BadInput if its addresses leave no room for it."""
    found = make_segments(services)
    outside = tuple(Segment(subnet) for subnet in client_subnets(found))
    segments = dict(zip(_segment_names(found), found, strict=True))
    names = {address: f"rs{number}" for number, address in enumerate(_server_addresses(services), 1)}
    router = {CLIENTS: tuple(segment.free_address() for segment in outside)}
    router |= {name: (segment.free_address(),) for name, segment in segments.items() if segment.has_router}
    director = {name: (segment.free_address(),) for name, segment in segments.items() if segment.has_director}
    client = {CLIENTS: tuple(segment.free_address() for segment in outside)}
    return Layout(
        networks={
            CLIENTS: tuple(segment.subnet for segment in outside),
            **{name: (segment.subnet,) for name, segment in segments.items()},
        },
        nodes=(
            LaidNode("client", Role.CLIENT, client),
            LaidNode("router", Role.ROUTER, router),
            LaidNode("director", Role.DIRECTOR, director),
            *(LaidNode(name, Role.REAL_SERVER, _where(address, segments)) for address, name in names.items()),
        ),
        names=names,
        assumptions=tuple(_assumptions(segments, services)),
    )


def _server_addresses(services: Sequence[CarriedService]) -> tuple[Address, ...]:
    """Each address once, in the order of the file."""
    return tuple(dict.fromkeys(destination.address for service in services for destination in service.destinations))


def _where(address: Address, segments: Mapping[str, Segment]) -> dict[str, tuple[Address, ...]]:
    return {name: (address,) for name, segment in segments.items() if address in segment.subnet}


def _segment_names(segments: Sequence[Segment]) -> list[str]:
    kinds = [_kind(segment) for segment in segments]
    total, seen = Counter(kinds), Counter[str]()
    names = []
    for kind in kinds:
        seen[kind] += 1
        names.append(kind if total[kind] == 1 else f"{kind}{seen[kind]}")
    return names


def _kind(segment: Segment) -> str:
    if segment.vips and segment.methods:
        return "cluster"
    return "vips" if segment.vips else "servers"


def _assumptions(segments: Mapping[str, Segment], services: Sequence[CarriedService]) -> Iterator[str]:
    yield "networks: " + ", ".join(f"{name} {segment.subnet}" for name, segment in segments.items())
    yield "one client, behind a router; one director, which holds every VIP"
    yield "each server address is a machine of its own"
    for method in sorted({service.method for service in services}):
        yield _BY_METHOD[method]
    yield "servers are added in the order of the file"
