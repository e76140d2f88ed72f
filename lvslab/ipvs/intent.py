"""What is installed at a director: from a topology's virtual service, or as a kernel has it."""

from __future__ import annotations

from lvslab.ipvs.model import AddressKey, Destination, IntendedService, Persistence, Service, ServiceEntry
from lvslab.topology import model as topology


def from_topology(service: topology.VirtualService) -> IntendedService:
    """Return the service with its destinations in the same order of adding; nothing is checked here."""
    return IntendedService(
        Service(
            key=AddressKey(service.protocol, service.vip, service.port),
            scheduler=service.scheduler,
            persistence=None if service.persistence_s is None else Persistence(service.persistence_s),
        ),
        tuple(_destination(destination, service.port) for destination in service.destinations),
    )


def _destination(destination: topology.Destination, service_port: int) -> Destination:
    return Destination(
        address=destination.address,
        port=destination.port,
        method=_method(destination, service_port),
        weight=destination.weight,
        upper_threshold=destination.upper_threshold,
        lower_threshold=destination.lower_threshold,
    )


def _method(destination: topology.Destination, service_port: int) -> topology.Method:
    """LocalNode is not asked for: the kernel delivers to its own addresses with any method, and only NAT maps ports."""
    if destination.method is not topology.Method.LOCAL:
        return destination.method
    return topology.Method.DR if destination.port == service_port else topology.Method.NAT


def from_kernel(entry: ServiceEntry) -> IntendedService:
    """Return what to install for a service as it was read back: the kernel lists the last one added first."""
    return IntendedService(entry.service, tuple(item.destination for item in reversed(entry.destinations)))
