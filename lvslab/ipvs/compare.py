"""What was meant against what the kernel says it has, in words. An empty result means they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lvslab.ipvs.model import Destination, DestinationEntry, IntendedService, Persistence, Service, ServiceEntry


def compare(intended: Iterable[IntendedService], actual: Iterable[ServiceEntry]) -> list[str]:
    """Return the differences, one sentence each, for a table installed from empty.

    The order of services is the kernel's own business; the order of destinations is not: schedulers follow it, and
    the kernel puts each new destination in front (ip_vs_ctl.c: ip_vs_new_dest), so the last added comes first.
    """
    wanted = {item.service.key: item for item in intended}
    found = {entry.service.key: entry for entry in actual}
    differences = [f"service {key}: missing" for key in wanted if key not in found]
    differences += [f"service {key}: not asked for" for key in found if key not in wanted]
    for key, item in wanted.items():
        if key in found:
            differences += [f"service {key}: {text}" for text in _service(item, found[key])]
    return differences


def _service(intended: IntendedService, entry: ServiceEntry) -> list[str]:
    want, have = intended.service, entry.service
    facts = [
        ("scheduler", want.scheduler, have.scheduler),
        ("flags", _flags(want), _flags(have)),
        ("persistence", _persistence(want), _persistence(have)),
    ]
    return _unequal(facts) + _destinations(intended.destinations, entry.destinations)


def _destinations(intended: Sequence[Destination], entries: Sequence[DestinationEntry]) -> list[str]:
    wanted = {(item.address, item.port): item for item in intended}
    found = {(entry.destination.address, entry.destination.port): entry.destination for entry in entries}
    differences = [f"destination {wanted[key]}: missing" for key in wanted if key not in found]
    differences += [f"destination {found[key]}: not asked for" for key in found if key not in wanted]
    for key, want in wanted.items():
        if key in found:
            differences += [f"destination {want}: {text}" for text in _destination(want, found[key])]
    return differences or _order(tuple(wanted.values()), tuple(found.values()))


def _destination(want: Destination, have: Destination) -> list[str]:
    names = ("method", "weight", "upper_threshold", "lower_threshold")
    facts = [(name.replace("_", " "), str(getattr(want, name)), str(getattr(have, name))) for name in names]
    return _unequal([*facts, ("tunnel", _tunnel(want), _tunnel(have))])


def _order(intended: tuple[Destination, ...], found: tuple[Destination, ...]) -> list[str]:
    newest_first = ", ".join(map(str, reversed(intended)))
    return _unequal([("order of destinations", newest_first, ", ".join(map(str, found)))])


def _unequal(facts: Iterable[tuple[str, str, str]]) -> list[str]:
    return [f"{name}: expected {want}, found {have}" for name, want, have in facts if want != have]


def _flags(service: Service) -> str:
    return ", ".join(sorted(service.flags)) or "none"


def _persistence(service: Service) -> str:
    persistence = service.persistence
    if persistence is None:
        return "none"
    text = f"{persistence.timeout_s} s by /{_prefix(persistence, service)}"
    return f"{text}, engine {persistence.engine}" if persistence.engine else text


def _prefix(persistence: Persistence, service: Service) -> int:
    return service.key.family.address_bits if persistence.prefix is None else persistence.prefix


def _tunnel(destination: Destination) -> str:
    tunnel = destination.tunnel
    return f"{tunnel.kind} port {tunnel.port} {tunnel.checksum}"
