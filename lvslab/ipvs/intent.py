"""What is installed at a director: from a topology's virtual service, or as a kernel has it."""

from __future__ import annotations

from collections.abc import Iterable

from lvslab.ipvs.model import (
    AddressKey,
    Destination,
    Family,
    Flag,
    FwmarkKey,
    IntendedService,
    Persistence,
    Service,
    ServiceEntry,
    ServiceKey,
)
from lvslab.topology import model as topology


def from_topology(service: topology.VirtualService) -> IntendedService:
    """Return the service with its destinations in the same order of adding; nothing is checked here."""
    return IntendedService(
        Service(
            key=key_of(service),
            scheduler=service.scheduler,
            persistence=persistence_of(service),
            flags=flags_of(service),
        ),
        tuple(_destination(destination, service) for destination in service.destinations),
    )


def key_of(service: topology.VirtualService) -> ServiceKey:
    """Return what a director finds the service by."""
    if service.mark is not None:
        return FwmarkKey(service.mark, Family.of(service.vip))
    return AddressKey(service.protocol, service.vip, service.port)


def entry_of(entries: Iterable[ServiceEntry], service: topology.VirtualService) -> ServiceEntry | None:
    """Return the entry of a director's table that is the service's, if there is one."""
    key = key_of(service)
    return next((entry for entry in entries if entry.service.key == key), None)


def flags_of(service: topology.VirtualService) -> frozenset[Flag]:
    flags = {Flag(flag.value) for flag in service.flags}
    return frozenset(flags | {Flag.ONE_PACKET} if service.one_packet else flags)


def persistence_of(service: topology.VirtualService) -> Persistence | None:
    if service.persistence_s is None:
        return None
    return Persistence(service.persistence_s, service.persistence_prefix)


def _destination(destination: topology.Destination, service: topology.VirtualService) -> Destination:
    """With port 0 the kernel keeps the port that the client asked for: a mark may stand for several."""
    return Destination(
        address=destination.address,
        port=destination.port if service.mark is None else 0,
        method=_method(destination, service.port),
        weight=destination.weight,
        upper_threshold=destination.upper_threshold,
        lower_threshold=destination.lower_threshold,
        tunnel=destination.tunnel,
    )


def _method(destination: topology.Destination, service_port: int) -> topology.Method:
    """LocalNode is not asked for: the kernel delivers to its own addresses with any method, and only NAT maps ports."""
    if destination.method is not topology.Method.LOCAL:
        return destination.method
    return topology.Method.DR if destination.port == service_port else topology.Method.NAT


def from_kernel(entry: ServiceEntry) -> IntendedService:
    """Return what to install for a service as it was read back: the kernel lists the last one added first."""
    return IntendedService(entry.service, tuple(item.destination for item in reversed(entry.destinations)))
