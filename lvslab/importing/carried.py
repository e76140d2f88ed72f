"""What of a configuration a topology can hold, and what has to be left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lvslab.importing.finding import Note
from lvslab.ipvs.model import IPIP, AddressKey, Destination, Service
from lvslab.ipvs.text import WrittenService
from lvslab.topology.model import Method


@dataclass(frozen=True, slots=True)
class CarriedService:
    """A service as a topology has it: one address, one port, one method."""

    key: AddressKey
    scheduler: str
    persistence_s: int | None
    method: Method
    destinations: tuple[Destination, ...]


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
        return "a topology has no services of firewall marks"
    if service.key.port == 0:
        return "a topology has no services on every port"
    return None


def _without(service: Service) -> Iterator[str]:
    if service.flags:
        yield f"flags left out: {', '.join(sorted(service.flags))}"
    persistence = service.persistence
    if persistence is not None and persistence.prefix is not None:
        yield f"persistence by /{persistence.prefix} becomes persistence by address"
    if persistence is not None and persistence.engine is not None:
        yield f"persistence engine left out: {persistence.engine}"


def _fitting(written: WrittenService, notes: list[Note]) -> CarriedService | None:
    key = written.service.key
    methods = Counter(item.destination.method for item in written.destinations)
    if not isinstance(key, AddressKey) or not methods:
        return None
    method = methods.most_common(1)[0][0]
    kept = []
    for item in written.destinations:
        reason = _misfit(item.destination, key, method)
        if reason is None:
            kept.append(item.destination)
            notes += [Note(f"server {item.destination}: {text}", item.line) for text in _bare(item.destination)]
        else:
            notes.append(Note(f"server {item.destination} left out: {reason}", item.line))
    if not kept:
        notes.append(Note(f"service {key} left out: none of its servers fits", written.line))
        return None
    persistence = written.service.persistence
    timeout_s = None if persistence is None else persistence.timeout_s
    return CarriedService(key, written.service.scheduler, timeout_s, method, tuple(kept))


def _misfit(destination: Destination, key: AddressKey, method: Method) -> str | None:
    if destination.method is not method:
        return f"its method is {destination.method}, that of most is {method}"
    if destination.address.version != key.address.version:
        return "a topology has servers of the VIP's family only"
    if destination.address.is_loopback:
        return "a topology has no servers on the director itself"
    return None


def _bare(destination: Destination) -> Iterator[str]:
    if destination.upper_threshold:
        yield f"thresholds left out (-x {destination.upper_threshold} -y {destination.lower_threshold})"
    if destination.tunnel != IPIP:
        yield f"tunnel {destination.tunnel.kind} becomes ipip"
