"""What of a configuration a topology can hold, and what has to be left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lvslab.importing.finding import Note
from lvslab.ipvs.model import AddressKey, Destination, Flag, Persistence, Service
from lvslab.ipvs.text import WrittenService
from lvslab.topology.model import IPIP, Method, Tunnel, TunnelKind
from lvslab.topology.tunnels import GUE_PORT


@dataclass(frozen=True, slots=True)
class CarriedService:
    """A service as a topology has it: one address, one port, one method."""

    key: AddressKey
    scheduler: str
    persistence: Persistence | None
    flags: frozenset[Flag]
    method: Method
    destinations: tuple[Destination, ...]
    tunnel: Tunnel = IPIP
    """Outer header of method TUN, the same for all servers."""


def carry(services: Sequence[WrittenService]) -> tuple[tuple[CarriedService, ...], tuple[Note, ...]]:
    """Return the services that fit, and a note for everything that does not."""
    carried: list[CarriedService] = []
    notes: list[Note] = []
    for written in services:
        reason = _obstacle(written.service)
        if reason is not None:
            notes.append(Note(f"service {written.service.key} left out: {reason}", written.line))
            continue
        notes += [Note(text, written.line) for text in _without(written.service)]
        service = _fitting(written, notes)
        if service is not None:
            carried.append(service)
    return tuple(carried), tuple(notes)


def _obstacle(service: Service) -> str | None:
    if not isinstance(service.key, AddressKey):
        return "the table has the firewall mark, and not the addresses and ports that get it"
    if service.key.port == 0:
        return "a topology has no services on every port"
    return None


def _without(service: Service) -> Iterator[str]:
    persistence = service.persistence
    if persistence is not None and persistence.engine is not None:
        yield f"persistence engine left out: {persistence.engine}"


def _fitting(written: WrittenService, notes: list[Note]) -> CarriedService | None:
    key = written.service.key
    methods = Counter(item.destination.method for item in written.destinations)
    if not isinstance(key, AddressKey) or not methods:
        return None
    method = methods.most_common(1)[0][0]
    tunnel = _tunnel_of_most(written, method)
    kept = []
    for item in written.destinations:
        reason = _misfit(item.destination, key, method)
        if reason is None:
            kept.append(item.destination)
            notes += [Note(f"server {item.destination}: {text}", item.line) for text in _bare(item.destination, tunnel)]
        else:
            notes.append(Note(f"server {item.destination} left out: {reason}", item.line))
    if not kept:
        notes.append(Note(f"service {key} left out: none of its servers fits", written.line))
        return None
    service = written.service
    return CarriedService(key, service.scheduler, service.persistence, service.flags, method, tuple(kept), tunnel)


def _misfit(destination: Destination, key: AddressKey, method: Method) -> str | None:
    if destination.method is not method:
        return f"its method is {destination.method}, that of most is {method}"
    if destination.address.version != key.address.version:
        return "a topology has servers of the VIP's family only"
    if destination.address.is_loopback:
        return "a topology has no servers on the director itself"
    return None


def _tunnel_of_most(written: WrittenService, method: Method) -> Tunnel:
    """Return the tunnel that most servers have, if a topology has servers that unwrap it."""
    servers = [item.destination for item in written.destinations if item.destination.method is method]
    most = Counter(server.tunnel for server in servers).most_common(1)[0][0]
    carried = most.kind is TunnelKind.IPIP or all(server.address.version == 4 for server in servers)
    return most if carried and most.port in (0, GUE_PORT) else IPIP


def _bare(destination: Destination, tunnel: Tunnel) -> Iterator[str]:
    if destination.tunnel != tunnel:
        yield f"tunnel {destination.tunnel} becomes {tunnel}"
