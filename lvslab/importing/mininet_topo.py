"""The topology file that a Mininet Topo class becomes, once somebody has named the roles of its hosts.

Switches that are joined are one network. Addresses are those that Mininet would give: a host's `ip` on its first
cable, a cable's own `params1` and `params2`, and 10.0.0.N/8 where nothing is said (mininet.net.Mininet.addHost).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv4Interface, ip_interface

from lvslab.errors import BadInput
from lvslab.mininet.topo import CableEnd, MininetTopo
from lvslab.topology.checks.names import TOPOLOGY_NAME_LENGTH, is_label, label_rule
from lvslab.topology.limits import NAME_LENGTH
from lvslab.topology.model import InterfaceAddress, Role
from lvslab.topology.wording import one_line
from lvslab.topology.yaml_writer import without_template, yaml_text

FIRST_ADDRESS = IPv4Interface("10.0.0.0/8")
"""Before the first of Mininet's own (mininet.net.Mininet: ipBase)."""
ROUTE = re.compile(r"(?:dev \S+ )?(?:via )?(?P<gateway>[0-9a-fA-F.:]+)(?: .*)?")
"""A host's defaultRoute: mininet.node.Node.setDefaultRoute takes the words of `ip route add default`."""


@dataclass(frozen=True, slots=True)
class Service:
    """What a Topo says nothing of: the one virtual service of the cluster."""

    vip: str
    port: int
    method: str
    scheduler: str


@dataclass(frozen=True, slots=True)
class Card:
    """A host's end of a cable."""

    end: CableEnd
    network: str
    address: InterfaceAddress


def topo_text(topo: MininetTopo, roles: Mapping[str, Sequence[str]], service: Service) -> tuple[str, tuple[str, ...]]:
    """Return a topology file, and what of the Topo was left out or assumed. `roles` are patterns of hosts, by role.

    Raises BadInput.
    """
    of_host = _roles(topo, roles)
    networks = _networks(topo)
    cards = {name: _cards(topo, name, networks) for name in of_host}
    _check_names(topo, "switch", dict.fromkeys(card.network for of_host in cards.values() for card in of_host))
    notes = tuple(_notes(topo, of_host))
    heading = f"Made by 'lvslab import' from the Mininet Topo {topo.source}."
    comment = "".join(f"{line}\n" for line in _commented(heading, *notes))
    sections = _sections(topo, of_host, cards, service)
    return "\n".join([comment, *(without_template(yaml_text(each, leaves_inline=True)) for each in sections)]), notes


def _roles(topo: MininetTopo, roles: Mapping[str, Sequence[str]]) -> dict[str, Role]:
    """Return the role of each host that has one, in the order of the Topo."""
    found: dict[str, Role] = {}
    for role, patterns in roles.items():
        for pattern in patterns:
            named = [host.name for host in topo.hosts if fnmatchcase(host.name, pattern)]
            if not named:
                known = ", ".join(host.name for host in topo.hosts)
                raise BadInput("no such host", where=topo.source, expected=f"one of {known}", found=pattern)
            for name in named:
                if found.setdefault(name, Role(role)) is not Role(role):
                    raise BadInput("a host of two roles", where=topo.source, found=f"{name}: {found[name]}, {role}")
    _check_names(topo, "host", found)
    return {host.name: found[host.name] for host in topo.hosts if host.name in found}


def _check_names(topo: MininetTopo, kind: str, names: Iterable[str]) -> None:
    """Refuse what a topology cannot hold, or would take for a group of nodes. Raises BadInput."""
    for name in names:
        if not is_label(name, NAME_LENGTH):
            what = f"a {kind}'s name that no topology takes"
            raise BadInput(what, where=topo.source, expected=label_rule(NAME_LENGTH), found=repr(name))


def _networks(topo: MininetTopo) -> dict[str, str]:
    """Return the network of each switch: the first one of those that are joined to it."""
    network = {switch: switch for switch in topo.switches}
    for cable in topo.cables:
        first, second = (end.node for end in cable.ends)
        if first in network and second in network:
            kept, gone = network[first], network[second]
            network = {switch: kept if of == gone else of for switch, of in network.items()}
        elif first not in network and second not in network:
            raise BadInput(
                "a cable from host to host", where=topo.source, expected="a switch", found=f"{first} to {second}"
            )
    return network


def _cards(topo: MininetTopo, name: str, networks: Mapping[str, str]) -> list[Card]:
    ends = []
    for cable in topo.cables:
        for own, other in (cable.ends, cable.ends[::-1]):
            if own.node == name:
                ends.append((own, networks[other.node]))
    ends.sort(key=lambda each: each[0].port)
    return [
        Card(end, network, _address(topo, end, first=position == 0)) for position, (end, network) in enumerate(ends)
    ]


def _address(topo: MininetTopo, end: CableEnd, *, first: bool) -> InterfaceAddress:
    number, host = next((place, each) for place, each in enumerate(topo.hosts, 1) if each.name == end.node)
    text = end.ip or (host.ip or str(IPv4Interface((FIRST_ADDRESS.ip + number, 8))) if first else "")
    try:
        return ip_interface(text if "/" in text else f"{text}/8")
    except ValueError as error:
        raise BadInput(
            "a card without an address",
            where=topo.source,
            expected="ip= of the host on its first cable, or params1 or params2 of the cable",
            found=f"{text or 'none'} for {end.node}, port {end.port}",
        ) from error


def _notes(topo: MininetTopo, roles: Mapping[str, Role]) -> Iterator[str]:
    left = [host.name for host in topo.hosts if host.name not in roles]
    if left:
        yield f"left out {', '.join(left)}: no role"
    others = sorted({option for cable in topo.cables for option in cable.others})
    if others:
        yield f"left out options of cables: {', '.join(others)}"
    yield "interfaces are eth0, eth1, ... with MACs of lvslab's; joined switches are one"


def _commented(*texts: str) -> Iterator[str]:
    """Yield comment lines without what a template or YAML would take for its own."""
    for number, text in enumerate(texts):
        yield f"# {'- ' if number else ''}{one_line(text, without='{}')}"


def _sections(
    topo: MininetTopo, roles: Mapping[str, Role], cards: Mapping[str, Sequence[Card]], service: Service
) -> Iterator[dict[str, object]]:
    name = re.sub(r"[^a-z0-9]+", "-", topo.name.lower())[:TOPOLOGY_NAME_LENGTH].strip("-") or "imported"
    yield {"name": name, "title": {"en": f"Mininet Topo {topo.name}", "zh": f"Mininet 拓扑 {topo.name}"}}
    yield {"networks": _subnets(topo, cards)}
    routes = {host.name: host.default_route for host in topo.hosts}
    yield {"nodes": {name: dict(_node(topo, routes[name], role, cards[name])) for name, role in roles.items()}}
    servers = [name for name, role in roles.items() if role is Role.REAL_SERVER]
    yield {"services": [{**asdict(service), "servers": servers}]}


def _subnets(topo: MininetTopo, cards: Mapping[str, Sequence[Card]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for of_host in cards.values():
        for card in of_host:
            subnet = str(card.address.network)
            if found.setdefault(card.network, subnet) != subnet:
                raise BadInput(
                    "two subnets on one network",
                    where=topo.source,
                    expected=f"{found[card.network]} for all at {card.network}",
                    found=f"{card.address} for {card.end.node}",
                )
    return found


def _node(
    topo: MininetTopo, default_route: str, role: Role, cards: Sequence[Card]
) -> Iterator[tuple[str, str | dict[str, str]]]:
    yield "role", str(role)
    yield "on", {card.network: str(card.address.ip) for card in cards}
    if default_route:
        read = ROUTE.fullmatch(default_route)
        if read is None:
            raise BadInput("a default route that names no gateway", where=topo.source, found=default_route)
        yield "gateway", read["gateway"]
    rates = {card.network: f"{card.end.bw}mbit" for card in cards if card.end.bw}
    if rates:
        yield "rate", rates
    delays = {card.network: card.end.delay for card in cards if card.end.delay}
    if delays:
        yield "delay", delays
