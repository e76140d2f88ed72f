"""What stands below a drawing: virtual services, round-robin names, and what the signs mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lvslab.report.graph.cards import Card, RowKind
from lvslab.report.graph.facts import SIGNS, Mark
from lvslab.report.graph.phrases import GraphPhrases
from lvslab.topology.model import IPIP, Address, Destination, NameService, Topology, VirtualService


@dataclass(frozen=True, slots=True)
class Note:
    node: str
    """Who offers it: the director, or the name server."""
    heading: str
    lines: tuple[str, ...]


def make_notes(topology: Topology, say: GraphPhrases) -> tuple[Note, ...]:
    """Return a note for each virtual service and each round-robin name."""
    return (
        *(_service(each, say) for each in topology.services),
        *(_name(each, topology, say) for each in topology.name_services),
    )


def key_to_signs(cards: Iterable[Card], say: GraphPhrases) -> tuple[str, ...]:
    """Return what the signs on these cards mean; nothing when there are none."""
    kinds = {row.kind for card in cards for row in card.all_rows}
    key = {
        RowKind.REMOVED: f"{SIGNS[Mark.REMOVED]}{say.removed}",
        RowKind.BY_HAND: f"{SIGNS[Mark.BY_HAND]}{say.by_hand}",
    }
    return tuple(text for kind, text in key.items() if kind in kinds)


def with_port(address: Address, port: int) -> str:
    """Return ``192.0.2.1:80`` or ``[2001:db8::1]:80`` (RFC 3986, section 3.2.2)."""
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def _service(service: VirtualService, say: GraphPhrases) -> Note:
    facts = [say.method.format(method=service.method), say.scheduler.format(scheduler=service.scheduler)]
    if service.persistence_s is not None:
        persistent = say.persistent_by if service.persistence_prefix else say.persistent
        facts.append(persistent.format(seconds=service.persistence_s, prefix=service.persistence_prefix))
    if service.source_nat:
        facts.append(say.source_nat)
    if service.one_packet:
        facts.append(say.one_packet)
    facts += sorted(service.flags)
    if service.mark is not None:
        facts.append(say.mark.format(mark=service.mark))
    address = with_port(service.vip, service.port)
    return Note(
        service.director,
        say.service.format(protocol=service.protocol, address=address, node=service.director),
        (say.comma.join(facts), say.to.format(destinations=say.semicolon.join(_destinations(service, say)))),
    )


def _destinations(service: VirtualService, say: GraphPhrases) -> Iterator[str]:
    """Yield the destinations in the order of adding, neighbours alike in one piece."""
    for facts, group in groupby(service.destinations, key=lambda each: _destination(each, service, say)):
        yield f"{short_names([each.node for each in group], say)} {facts}"


def _destination(destination: Destination, service: VirtualService, say: GraphPhrases) -> str:
    facts = [say.weight.format(weight=destination.weight)]
    if destination.port != service.port:
        facts.insert(0, say.port.format(port=destination.port))
    if destination.tunnel != IPIP:
        facts.append(say.tunnel.format(tunnel=destination.tunnel))
    if destination.method is not service.method:
        facts.append(say.method.format(method=destination.method))
    if destination.upper_threshold:
        facts.append(say.at_most.format(count=destination.upper_threshold))
    if destination.lower_threshold:
        facts.append(say.again_below.format(count=destination.lower_threshold))
    return say.comma.join(facts)


def _name(service: NameService, topology: Topology, say: GraphPhrases) -> Note:
    asked = [say.name_server.format(node=service.server)]
    if service.resolver is not None:
        asked.append(say.resolver.format(node=service.resolver))
    records = say.records.format(records=say.between_names.join(_records(service, topology, say)))
    return Note(
        service.server,
        say.name.format(name=service.name, port=service.port),
        (say.comma.join([*asked, say.ttl.format(seconds=service.ttl_s)]), records),
    )


def _records(service: NameService, topology: Topology, say: GraphPhrases) -> Iterator[str]:
    """Yield the records in order, by node; with the address only where the node's name does not say which."""
    for plain, group in groupby(service.records, key=lambda each: topology.node(each[0]).own_addresses == (each[1],)):
        records = tuple(group)
        if plain:
            yield short_names([name for name, _ in records], say)
        else:
            yield from (f"{name} {address}" for name, address in records)


def short_names(names: Sequence[str], say: GraphPhrases) -> str:
    """Return names with runs of three and more as in a topology file: ``rs[1-64]``; order and members stay exact."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    return say.between_names.join(_run(run, say) for run in runs)


def _follows(name: str, following: str) -> bool:
    stem, number = _split(name)
    return bool(number) and following == f"{stem}{int(number) + 1}"


def _split(name: str) -> tuple[str, str]:
    stem = re.sub(r"[0-9]+$", "", name)
    return stem, name[len(stem) :]


def _run(names: Sequence[str], say: GraphPhrases) -> str:
    if len(names) <= 2:
        return say.between_names.join(names)
    stem, first = _split(names[0])
    return f"{stem}[{first}-{_split(names[-1])[1]}]"
