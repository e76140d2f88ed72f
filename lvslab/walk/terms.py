"""What the LVS papers call an address: CIP, VIP, DIP, RIP. https://www.linuxvirtualserver.org/Documents.html"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lvslab.topology.model import Node, Role, Topology
from lvslab.walk.model import Walks

_PREFIXES = {Role.CLIENT: "CIP", Role.REAL_SERVER: "RIP"}


def address_terms(topology: Topology) -> dict[str, str]:
    """Return the term by address; every term stands for one address. What has none keeps its number."""
    terms: dict[str, str] = {}
    for address, term in _terms(topology):
        if term not in terms.values():
            terms.setdefault(address, term)
    return terms


def with_terms(walks: Walks, topology: Topology) -> Walks:
    """Return the walks with addresses named after their parts in the topology."""
    return replace(walks, names=replace(walks.names, terms=address_terms(topology)))


def _terms(topology: Topology) -> Iterator[tuple[str, str]]:
    yield from _numbered("VIP", sorted({str(service.vip) for service in topology.services}))
    for role, prefix in _PREFIXES.items():
        own = [str(address) for node in topology.with_role(role) for address in node.own_addresses[:1]]
        yield from _numbered(prefix, own, always=role is Role.REAL_SERVER)
    directors = [director for director in topology.with_role(Role.DIRECTOR) if director.interfaces]
    yield from _numbered("DIP", [_towards_servers(director, topology) for director in directors])


def _numbered(prefix: str, addresses: list[str], *, always: bool = False) -> Iterator[tuple[str, str]]:
    numbered = always or len(addresses) > 1
    for number, address in enumerate(addresses, 1):
        yield address, f"{prefix}{number}" if numbered else prefix


def _towards_servers(director: Node, topology: Topology) -> str:
    """Return the director's address on the network that it shares with the servers, else its first."""
    shared = {interface.network for server in topology.with_role(Role.REAL_SERVER) for interface in server.interfaces}
    interfaces = sorted(director.interfaces, key=lambda interface: interface.network not in shared)
    return str(interfaces[0].addresses[0].ip)
