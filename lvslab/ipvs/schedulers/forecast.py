"""What comes next: a service's model asked for one connection after another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address
from itertools import cycle
from string import ascii_uppercase
from typing import Final

from lvslab.errors import BadInput
from lvslab.ipvs.intent import flags_of, persistence_of
from lvslab.ipvs.model import Connection, DestinationEntry, ServiceEntry
from lvslab.ipvs.schedulers import Reading
from lvslab.ipvs.schedulers.counting import Counting
from lvslab.ipvs.schedulers.load import Load
from lvslab.ipvs.schedulers.model import Choice, Flow, Server
from lvslab.ipvs.schedulers.service import ServiceModel
from lvslab.ipvs.templates import client_network, templates_of
from lvslab.topology.model import Address, VirtualService

REMEMBERING: Final = ("rr", "wrr", "lblc", "lblcr")
"""Schedulers with a memory of their own beside the counts in the table."""
SERVER_PORT: Final = 80
FIRST_PORT: Final = 40001
FIRST_SERVER: Final = IPv4Address("192.0.2.11")
FIRST_CLIENT: Final = IPv4Address("198.51.100.1")
DESTINATION: Final = IPv4Address("192.0.2.100")
"""Addresses for services that exist on paper only; mh hashes the servers' too."""


def service_of_weights(name: str, weights: Sequence[int], reading: Reading) -> ServiceModel:
    """Return a service on paper, its servers A, B, C, … added in this order. Raises BadInput."""
    model = ServiceModel(name, reading)
    for number, weight in enumerate(weights):
        model.add(Server(_letters(number), weight, address=FIRST_SERVER + number, port=SERVER_PORT))
    return model


def server_names(service: VirtualService) -> list[str]:
    """Return what to call each destination: its node, and its port too if the node serves at several."""
    nodes = [item.node for item in service.destinations]
    return [f"{item.node}:{item.port}" if nodes.count(item.node) > 1 else item.node for item in service.destinations]


def service_of_topology(service: VirtualService) -> ServiceModel:
    """Return a service as a topology's plan installs it: its servers added in order, and no connection yet.

    Raises BadInput for a scheduler without a model.
    """
    model = ServiceModel(service.scheduler, flags=flags_of(service), persistence=persistence_of(service))
    for name, item in zip(server_names(service), service.destinations, strict=True):
        server = Server(name, item.weight, address=item.address, port=item.port)
        model.add(server, upper=item.upper_threshold, lower=item.lower_threshold)
    return model


def service_of_table(
    entry: ServiceEntry,
    names: Mapping[Address, str],
    *,
    counting: Counting,
    fresh: bool,
    entries: Iterable[Connection] = (),
    without_quiescent: bool = False,
    clients: Sequence[Address] = (),
) -> ServiceModel:
    """Return a service as a kernel's table has it; `names` are those of its destinations' addresses.

    `fresh`: it never had a connection. `entries`: the director's connection table, for the service's templates.
    `without_quiescent`: templates of servers of weight 0 do not count (sysctl expire_quiescent_template). `clients`:
    whose connections are to be predicted. Raises BadInput where the table does not tell what the scheduler remembers,
    unless it need not be asked for any of these clients.
    """
    service = entry.service
    where = str(service.key)
    model = ServiceModel(service.scheduler, flags=service.flags, counting=counting, persistence=service.persistence)
    holders: dict[tuple[Address, int], str] = {}
    for item in reversed(entry.destinations):
        destination = item.destination
        node = names.get(destination.address, str(destination.address))
        if node in model.loads:
            node = f"{node}:{destination.port}"
        server = Server(node, destination.weight, address=destination.address, port=destination.port)
        model.add(server, upper=destination.upper_threshold, lower=destination.lower_threshold)
        overloaded = _is_overloaded(model.loads[node], item, where)
        model.carry(node, active=item.active, inactive=item.inactive, overloaded=overloaded)
        if destination.weight or not without_quiescent:
            holders[destination.address, destination.port] = node
    for client, template in templates_of(service, entries).items():
        holder = holders.get((template.destination, template.destination_port))
        if holder is not None:
            model.templates[client] = holder
    if not fresh and service.scheduler in REMEMBERING and not _all_held(model, clients):
        raise BadInput(
            f"what {service.scheduler} remembers of earlier connections cannot be read from the kernel",
            where=where,
            next_step="predict before the first connection, or a scheduler that does not look back",
        )
    return model


def _all_held(model: ServiceModel, clients: Sequence[Address]) -> bool:
    """Return whether templates decide for all of these clients, and there is one."""
    prefix = model.persistence.prefix if model.persistence else None
    return bool(clients) and all(client_network(client, prefix) in model.templates for client in clients)


def _is_overloaded(load: Load, item: DestinationEntry, where: str) -> bool:
    """Tell by the counts; between the thresholds it depends on where they were before."""
    total = item.active + item.inactive
    if not load.upper or total < load.lower_in_force:
        return False
    if total >= load.upper:
        return True
    raise BadInput(
        f"whether {item.destination} is overloaded cannot be read from the kernel",
        where=where,
        found=f"{total} connections, between its thresholds",
        next_step="predict when they have fallen below the lower one",
    )


def flows(count: int, clients: Sequence[Address], destinations: Sequence[Address]) -> list[Flow]:
    """Return so many connections: clients and destinations take turns, each connection has a port of its own."""
    sources = cycle(clients) if clients else (FIRST_CLIENT + number for number in range(count))
    goals = cycle(destinations or (DESTINATION,))
    ports = (FIRST_PORT + number % (65536 - FIRST_PORT) for number in range(count))
    return [Flow(source, port, goal) for port, source, goal in zip(ports, sources, goals, strict=False)]


def forecast(
    model: ServiceModel, connections: Iterable[Flow], *, active: bool = True, ended: bool = False
) -> list[Choice]:
    """Return what is chosen for each connection, and how.

    TCP is active, and SCTP once it is established; UDP is not. `ended`: each connection has ended before the next
    begins; otherwise all stay open.
    """
    choices = []
    for flow in connections:
        choice, counted = model.open(flow, active=active)
        if counted is not None and ended:
            model.close(counted)
        choices.append(choice)
    return choices


def _letters(number: int) -> str:
    """Return A to Z, then A1 to Z1, A2, …"""
    turn, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(turn) if turn else "")
