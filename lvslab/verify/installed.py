"""What a director has installed for a virtual service, beside what the topology describes."""

from __future__ import annotations

from dataclasses import replace

from lvslab.ipvs.compare import compare
from lvslab.ipvs.intent import entry_of, from_topology
from lvslab.topology.model import VirtualService
from lvslab.verify.evidence import DirectorTable


def differences(table: DirectorTable, service: VirtualService) -> list[str]:
    """Return, one sentence each, where the table is not as described; the order of the servers is free."""
    entry = entry_of(table.services, service)
    meant = from_topology(in_order_of(table, service))
    return compare([meant], [] if entry is None else [entry])


def in_order_of(table: DirectorTable | None, service: VirtualService) -> VirtualService:
    """Return the service with its destinations in the order in which the table says they were added."""
    entry = entry_of(table.services, service) if table is not None else None
    if entry is None:
        return service
    newest_first = [(item.destination.address, item.destination.port) for item in entry.destinations]
    places = {end: -number for number, end in enumerate(newest_first)}
    pairs = zip(service.destinations, from_topology(service).destinations, strict=True)
    ordered = sorted(pairs, key=lambda pair: places.get((pair[1].address, pair[1].port), 1))
    return replace(service, destinations=tuple(meant for meant, _ in ordered))
