"""What stands below a drawing: virtual services, round-robin names, and what the signs mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lvslab.report.graph.cards import Card, RowKind
from lvslab.report.graph.facts import SIGNS, Mark
from lvslab.topology.model import IPIP, Address, Destination, NameService, Topology, VirtualService

_KEY = {
    RowKind.REMOVED: f"{SIGNS[Mark.REMOVED]}implied setting taken away",
    RowKind.BY_HAND: f"{SIGNS[Mark.BY_HAND]}set by hand, beyond what is implied",
}


@dataclass(frozen=True, slots=True)
class Note:
    node: str
    """Who offers it: the director, or the name server."""
    heading: str
    lines: tuple[str, ...]


def make_notes(topology: Topology) -> tuple[Note, ...]:
    """Return a note for each virtual service and each round-robin name."""
    return (*map(_service, topology.services), *(_name(each, topology) for each in topology.name_services))


def key_to_signs(cards: Iterable[Card]) -> tuple[str, ...]:
    """Return what the signs on these cards mean; nothing when there are none."""
    kinds = {row.kind for card in cards for row in card.all_rows}
    return tuple(text for kind, text in _KEY.items() if kind in kinds)


def with_port(address: Address, port: int) -> str:
    """Return ``192.0.2.1:80`` or ``[2001:db8::1]:80`` (RFC 3986, section 3.2.2)."""
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def _service(service: VirtualService) -> Note:
    facts = [f"method {service.method}", f"scheduler {service.scheduler}"]
    if service.persistence_s is not None:
        by = f" by /{service.persistence_prefix}" if service.persistence_prefix else ""
        facts.append(f"persistent for {service.persistence_s} s{by}")
    if service.source_nat:
        facts.append("source NAT")
    if service.one_packet:
        facts.append("each datagram by itself")
    facts += sorted(service.flags)
    if service.mark is not None:
        facts.append(f"firewall mark {service.mark}")
    return Note(
        service.director,
        f"{service.protocol} {with_port(service.vip, service.port)} on {service.director}",
        (", ".join(facts), f"to {'; '.join(_destinations(service))}"),
    )


def _destinations(service: VirtualService) -> Iterator[str]:
    """Yield the destinations in the order of adding, neighbours alike in one piece."""
    for facts, group in groupby(service.destinations, key=lambda each: _destination(each, service)):
        yield f"{short_names([each.node for each in group])} {facts}"


def _destination(destination: Destination, service: VirtualService) -> str:
    facts = [f"weight {destination.weight}"]
    if destination.port != service.port:
        facts.insert(0, f"port {destination.port}")
    if destination.tunnel != IPIP:
        facts.append(f"tunnel {destination.tunnel}")
    if destination.method is not service.method:
        facts.append(f"method {destination.method}")
    if destination.upper_threshold:
        facts.append(f"at most {destination.upper_threshold} connections")
    if destination.lower_threshold:
        facts.append(f"again below {destination.lower_threshold}")
    return ", ".join(facts)


def _name(service: NameService, topology: Topology) -> Note:
    asked = f"name server {service.server}"
    if service.resolver is not None:
        asked += f", resolver {service.resolver}"
    return Note(
        service.server,
        f"{service.name} port {service.port}",
        (f"{asked}, TTL {service.ttl_s} s", f"records {', '.join(_records(service, topology))}"),
    )


def _records(service: NameService, topology: Topology) -> Iterator[str]:
    """Yield the records in order, by node; with the address only where the node's name does not say which."""
    for plain, group in groupby(service.records, key=lambda each: topology.node(each[0]).own_addresses == (each[1],)):
        records = tuple(group)
        if plain:
            yield short_names([name for name, _ in records])
        else:
            yield from (f"{name} {address}" for name, address in records)


def short_names(names: Sequence[str]) -> str:
    """Return names with runs of three and more as in a topology file: ``rs[1-64]``; order and members stay exact."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(_run(run) for run in runs)


def _follows(name: str, following: str) -> bool:
    stem, number = _split(name)
    return bool(number) and following == f"{stem}{int(number) + 1}"


def _split(name: str) -> tuple[str, str]:
    stem = re.sub(r"[0-9]+$", "", name)
    return stem, name[len(stem) :]


def _run(names: Sequence[str]) -> str:
    if len(names) <= 2:
        return ", ".join(names)
    stem, first = _split(names[0])
    return f"{stem}[{first}-{_split(names[-1])[1]}]"
