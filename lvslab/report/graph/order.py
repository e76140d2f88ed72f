"""Networks from the client side to the server side, and where each node stands among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lvslab.report.graph.cards import Card
from lvslab.topology.model import Network, Role, Topology

_ASKING = frozenset({Role.CLIENT, Role.RESOLVER})
"""Roles that ask: on one network only, they stand before it; all others stand behind."""


def networks_in_order(topology: Topology) -> tuple[Network, ...]:
    """Return the networks by how many nodes a packet from the nearest client passes.

    Among equals those with real servers come last, otherwise the order is the file's.
    """
    distance = {interface.network: 0 for node in topology.with_role(Role.CLIENT) for interface in node.interfaces} or {
        network.name: 0 for network in topology.networks[:1]
    }
    reached = list(distance)
    for name in reached:  # grows on the way: breadth first
        for neighbour in _neighbours(topology, name):
            if neighbour not in distance:
                distance[neighbour] = distance[name] + 1
                reached.append(neighbour)
    serving = {each.network for node in topology.with_role(Role.REAL_SERVER) for each in node.interfaces}
    unreached = len(topology.networks)
    return tuple(
        sorted(
            topology.networks,
            key=lambda network: (distance.get(network.name, unreached), network.name in serving),
        )
    )


def _neighbours(topology: Topology, name: str) -> tuple[str, ...]:
    joining = (node for node in topology.nodes if any(each.network == name for each in node.interfaces))
    return tuple(interface.network for node in joining for interface in node.interfaces)


@dataclass(frozen=True, slots=True)
class Standing:
    """A card in its band: band *i* lies before network *i*, the last one behind all."""

    card: Card
    band: int
    places: tuple[int, ...]
    """The number of the network of each interface, sorted."""

    @property
    def places_before(self) -> tuple[int, ...]:
        return tuple(place for place in self.places if place < self.band)

    @property
    def places_behind(self) -> tuple[int, ...]:
        return tuple(place for place in self.places if place >= self.band)


def stand(cards: Iterable[Card], networks: Sequence[Network]) -> tuple[Standing, ...]:
    """Return where each card stands: behind its first network, but before it if it only asks there."""
    number = {network.name: index for index, network in enumerate(networks)}
    standing = []
    for card in cards:
        places = tuple(sorted(number[name] for name in card.networks))
        standing.append(Standing(card, _band(card.role, places, len(networks)), places))
    return tuple(standing)


def _band(role: Role, places: tuple[int, ...], last: int) -> int:
    if not places:
        return last
    return places[0] if role in _ASKING and len(set(places)) == 1 else places[0] + 1
