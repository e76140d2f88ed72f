"""The standard drive of a topology: enough traffic to see each expectation hold or fail.

Every virtual service gets connections from the first client, in order, each from a port of its own. A
round-robin name is asked for directly and through the resolver, and the addresses it gave are connected to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lvslab.sandbox.sandbox import Sandbox
from lvslab.topology.model import Address, NameService, Node, Role, Topology, VirtualService
from lvslab.traffic import dns
from lvslab.traffic.calls import TARGETS, http_target, make_calls
from lvslab.traffic.outcome import Outcome
from lvslab.traffic.ports import free_ports

MAX_CONNECTIONS = 600
CACHED_ROUNDS = 2
"""How often each client asks the caching resolver: the second round must still come from its cache."""
DIRECT_ROUNDS_BEYOND = 2
"""Questions beyond one full turn of the name's addresses."""


def drive(sandbox: Sandbox, topology: Topology, ports_taken: Collection[int] = ()) -> tuple[Outcome, ...]:
    """Send the standard traffic; return every outcome in order. Raises KernelFault, CannotRun if no port is free."""
    outcomes: list[Outcome] = []
    for service in topology.services:
        outcomes += drive_service(sandbox, topology, service, ports_taken)
    for name_service in topology.name_services:
        outcomes += _drive_name(sandbox, topology, name_service)
    return tuple(outcomes)


def callers(topology: Topology) -> tuple[str, ...]:
    """Return the clients that call virtual services."""
    return tuple(dict.fromkeys(first_client(topology, service.vip)[0].name for service in topology.services))


def drive_service(
    sandbox: Sandbox, topology: Topology, service: VirtualService, ports_taken: Collection[int]
) -> tuple[Outcome, ...]:
    client, source = first_client(topology, service.vip)
    target = TARGETS[service.protocol]
    ports = free_ports(connection_count(topology, service), ports_taken)
    return make_calls(sandbox, client.name, [target(source, port, service.vip, service.port) for port in ports])


def connection_count(topology: Topology, service: VirtualService) -> int:
    """Return how many connections show the scheduler's cycle twice and one more."""
    if topology.traffic.connections is not None:
        return topology.traffic.connections
    weights = sum(destination.weight for destination in service.destinations)
    turns = len(service.destinations) if service.scheduler != "wrr" else weights
    return min(MAX_CONNECTIONS, 2 * turns + 1)


def first_client(topology: Topology, like: Address) -> tuple[Node, Address]:
    """Return a client and its address of the family of `like`."""
    for client in topology.with_role(Role.CLIENT):
        for address in client.own_addresses:
            if address.version == like.version:
                return client, address
    raise LookupError(f"{topology.name} has no client with an IPv{like.version} address")


def _drive_name(sandbox: Sandbox, topology: Topology, service: NameService) -> Iterator[Outcome]:
    server = topology.node(service.server).own_addresses[0]
    clients = topology.with_role(Role.CLIENT)
    yield from _ask_and_connect(sandbox, clients[0], server, service, len(service.records) + DIRECT_ROUNDS_BEYOND)
    if service.resolver is not None:
        resolver = topology.node(service.resolver).own_addresses[0]
        for _ in range(CACHED_ROUNDS):
            for client in clients:
                yield from _ask_and_connect(sandbox, client, resolver, service, 1)


def _ask_and_connect(
    sandbox: Sandbox, client: Node, server: Address, service: NameService, times: int
) -> Iterator[Outcome]:
    """Ask so many times, then connect to the first address of each answer, as most programs do."""
    source = client.own_addresses[0]
    over_tcp = len(service.records) > dns.MAX_UDP_RECORDS
    asked = dns.ask(sandbox, client.name, source, server, [service.name] * times, over_tcp=over_tcp)
    yield from asked
    answers = [dns.decode(outcome.answer, over_tcp=over_tcp) for outcome in asked]
    by_text = {str(address): address for _, address in service.records}
    targets = [
        http_target(source, 0, by_text[answer.addresses[0]], service.port)
        for answer in answers
        if answer is not None and answer.addresses[0] in by_text
    ]
    if targets:
        yield from make_calls(sandbox, client.name, targets)
