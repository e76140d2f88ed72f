"""The standard drive of a topology: enough traffic to see each expectation hold or fail.

Every virtual service gets connections from the first client, in order, each from a port of its own; of a persistent
one, all clients connect in turn, since it schedules clients. From each port go as many datagrams to a UDP service as
show whether they stay with one server. A round-robin name is asked for directly and through the resolver, and the
addresses it gave are connected to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import cycle, groupby

from lvslab.sandbox.sandbox import Sandbox
from lvslab.topology.model import Address, Application, NameService, Node, Protocol, Role, Topology, VirtualService
from lvslab.traffic import dns, ftp
from lvslab.traffic.calls import Target, echo_target, http_target, make_calls, sctp_target
from lvslab.traffic.outcome import Outcome
from lvslab.traffic.ports import free_ports

MAX_CONNECTIONS = 600
CONNECTIONS_PER_CLIENT = 3
"""To a persistent service."""
DATAGRAMS_PER_PORT = 2
CACHED_ROUNDS = 2
"""How often each client asks the caching resolver: the second round must still come from its cache."""
DIRECT_ROUNDS_BEYOND = 2
"""Questions beyond one full turn of the name's addresses."""


def drive(sandbox: Sandbox, topology: Topology, ports_taken: Collection[int] = ()) -> tuple[Outcome, ...]:
    """Send the standard traffic; return every outcome in order. Raises KernelFault, CannotRun if no port is free."""
    outcomes: list[Outcome] = []
    by_name = {address for name_service in topology.name_services for _, address in name_service.records}
    for service in topology.services:
        if service.vip in by_name:
            continue  # its clients come by way of the name
        outcomes += drive_service(sandbox, topology, service, ports_taken)
    for name_service in topology.name_services:
        outcomes += _drive_name(sandbox, topology, name_service)
    return tuple(outcomes)


def callers(topology: Topology) -> tuple[str, ...]:
    """Return the clients that call virtual services."""
    return tuple(
        dict.fromkeys(client.name for service in topology.services for client, _ in clients_of(topology, service))
    )


def drive_service(
    sandbox: Sandbox, topology: Topology, service: VirtualService, ports_taken: Collection[int]
) -> tuple[Outcome, ...]:
    if service.application is Application.FTP:
        client, _ = first_client(topology, service.vip)
        return ftp.fetch(sandbox, client.name, service.vip, service.port, connection_count(topology, service))
    clients = clients_of(topology, service)
    request_bytes = topology.traffic.request_bytes
    ports = free_ports(connection_count(topology, service), ports_taken)
    calls = [(*caller, port) for port, caller in zip(ports, cycle(clients), strict=False)]
    outcomes: list[Outcome] = []
    for client, turn in groupby(calls, key=lambda call: call[0].name):
        targets = [each for _, source, port in turn for each in _targets(service, source, port, request_bytes)]
        outcomes += make_calls(sandbox, client, targets)
    return tuple(outcomes)


def _targets(service: VirtualService, source: Address, port: int, request_bytes: int) -> list[Target]:
    """Return what is sent from one port: a connection, or some datagrams."""
    if service.protocol is Protocol.TCP:
        return [http_target(source, port, service.vip, service.port, request_bytes=request_bytes)]
    if service.protocol is Protocol.SCTP:
        return [sctp_target(source, port, service.vip, service.port)]
    numbers = range(1, DATAGRAMS_PER_PORT + 1)
    return [
        echo_target(source, port, service.vip, service.port, number, request_bytes=request_bytes) for number in numbers
    ]


def clients_of(topology: Topology, service: VirtualService) -> tuple[tuple[Node, Address], ...]:
    """Return the clients that call a service, each with its address: all where clients are what it schedules."""
    if service.persistence_s is None:
        return (first_client(topology, service.vip),)
    return tuple(_clients(topology, service.vip))


def connection_count(topology: Topology, service: VirtualService) -> int:
    """Return how many connections show the scheduler's cycle twice and one more."""
    if topology.traffic.connections is not None:
        return topology.traffic.connections
    if service.persistence_s is not None:
        return CONNECTIONS_PER_CLIENT * len(clients_of(topology, service))
    weights = sum(destination.weight for destination in service.destinations)
    turns = len(service.destinations) if service.scheduler != "wrr" else weights
    return min(MAX_CONNECTIONS, 2 * turns + 1)


def first_client(topology: Topology, like: Address) -> tuple[Node, Address]:
    """Return a client and its address of the family of `like`."""
    for found in _clients(topology, like):
        return found
    raise LookupError(f"{topology.name} has no client with an IPv{like.version} address")


def _clients(topology: Topology, like: Address) -> Iterator[tuple[Node, Address]]:
    named = topology.traffic.client
    for client in topology.with_role(Role.CLIENT) if named is None else (topology.node(named),):
        own = [address for address in client.own_addresses if address.version == like.version]
        if own:
            yield client, own[0]


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
