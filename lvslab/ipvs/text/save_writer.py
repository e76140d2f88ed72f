"""Writing a table as text that `ipvsadm -R` reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network

from lvslab.ipvs.model import AddressKey, Destination, Family, Flag, IntendedService, Service, ServiceKey, endpoint
from lvslab.plan.node_commands import METHOD_FLAGS, PROTOCOL_FLAGS
from lvslab.topology.model import Method, Tunnel, TunnelKind


def saved_text(services: Iterable[IntendedService]) -> str:
    """Return a table as `ipvsadm -Sn` would print it, with what that leaves out: order of adding, and thresholds."""
    return "".join(f"{line}\n" for item in services for line in _lines(item))


def _lines(intended: IntendedService) -> Iterator[str]:
    key = _key(intended.service.key)
    yield " ".join(["-A", key, *_service(intended.service)])
    for destination in intended.destinations:
        yield " ".join(["-a", key, *_destination(destination)])


def _key(key: ServiceKey) -> str:
    if isinstance(key, AddressKey):
        return f"{PROTOCOL_FLAGS[key.protocol]} {endpoint(key.address, key.port)}"
    return f"-f {key.mark} -6" if key.family is Family.IPV6 else f"-f {key.mark}"


def _service(service: Service) -> Iterator[str]:
    yield f"-s {service.scheduler}"
    persistence = service.persistence
    if persistence is not None:
        yield f"-p {persistence.timeout_s}"
        if persistence.prefix not in (None, service.key.family.address_bits):
            yield f"-M {_netmask(persistence.prefix, service.key.family)}"
        if persistence.engine is not None:
            yield f"--pe {persistence.engine}"
    if Flag.ONE_PACKET in service.flags:
        yield "-o"
    scheduler_flags = [flag for flag in Flag if flag in service.flags and flag is not Flag.ONE_PACKET]
    if scheduler_flags:
        yield f"-b {','.join(scheduler_flags)}"


def _netmask(prefix: int, family: Family) -> str:
    return str(prefix) if family is Family.IPV6 else str(IPv4Network((0, prefix)).netmask)


def _destination(destination: Destination) -> Iterator[str]:
    yield f"-r {destination} {METHOD_FLAGS[destination.method]} -w {destination.weight}"
    if destination.upper_threshold:
        yield f"-x {destination.upper_threshold}"
    if destination.lower_threshold:
        yield f"-y {destination.lower_threshold}"
    if destination.method is Method.TUN:
        yield from _tunnel(destination.tunnel)


def _tunnel(tunnel: Tunnel) -> Iterator[str]:
    yield f"--tun-type {tunnel.kind}"
    if tunnel.kind is TunnelKind.GUE:
        yield f"--tun-port {tunnel.port}"
    if tunnel.kind is not TunnelKind.IPIP:
        yield f"--tun-{tunnel.checksum}"
