"""Round-robin DNS: names that DNS can carry, and nodes that exist and have the right role."""

from __future__ import annotations

from collections.abc import Iterator

from lvslab.topology import limits
from lvslab.topology.checks.names import is_label
from lvslab.topology.faults import Fault, KeyPath
from lvslab.topology.model import NameService, Role, Topology
from lvslab.topology.vips import vips_of
from lvslab.topology.wording import one_of

_LABEL_LENGTH = 63
"""RFC 1035, section 2.3.4."""


def check_name_services(topology: Topology) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, service in enumerate(topology.name_services):
        path: KeyPath = ("dns", index)
        if not _is_domain_name(service.name):
            expected = "labels of letters a-z, digits and hyphens with dots between (RFC 1035), as www.cluster.example"
            yield Fault((*path, "name"), "unusable DNS name", expected, repr(service.name))
        if service.name in seen:
            yield Fault((*path, "name"), "duplicate DNS name", "each name once", repr(service.name))
        seen.add(service.name)
        yield from _check_numbers(service, path)
        yield from _check_nodes(service, topology, path)


def _is_domain_name(name: str) -> bool:
    return len(name) <= limits.DNS_NAME_LENGTH and all(is_label(label, _LABEL_LENGTH) for label in name.split("."))


def _check_numbers(service: NameService, path: KeyPath) -> Iterator[Fault]:
    for key, number, allowed in (("ttl", service.ttl_s, limits.TTL_S), ("port", service.port, limits.PORT)):
        if number not in allowed:
            yield Fault((*path, key), "number out of range", str(allowed), str(number))


def _check_nodes(service: NameService, topology: Topology, path: KeyPath) -> Iterator[Fault]:
    for key, name, role in (
        ("server", service.server, Role.NAME_SERVER),
        ("resolver", service.resolver, Role.RESOLVER),
    ):
        known = [node.name for node in topology.with_role(role)]
        if name is not None and name not in known:
            yield Fault((*path, key), f"unknown {role}", one_of(known), repr(name))
    if not service.records:
        yield Fault((*path, "servers"), "name without servers", expected="at least one")
    own = {node.name: node.own_addresses for node in topology.with_role(Role.REAL_SERVER)}
    own |= {
        node.name: vips_of(node.name, topology.services, service.port) for node in topology.with_role(Role.DIRECTOR)
    }
    seen: set[str] = set()
    for name, address in service.records:
        if address not in own.get(name, ()):
            expected = "a real server and an address it has, or a director and a VIP of its own"
            yield Fault((*path, "servers"), "record of no real server", expected, f"{address} for {name}")
        if name in seen:
            yield Fault((*path, "servers"), "duplicate server", "each server once per name", name)
        seen.add(name)
