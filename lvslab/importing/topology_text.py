"""The topology file that a configuration becomes: commented, ordinary YAML of our format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from textwrap import wrap
from typing import Final

from lvslab.errors import BadInput
from lvslab.importing.carried import CarriedService, carry
from lvslab.importing.configuration import Configuration
from lvslab.importing.finding import Note
from lvslab.importing.layout import LaidNode, Layout, lay_out
from lvslab.ipvs.model import Flag
from lvslab.topology.model import Address, Protocol, TunnelKind
from lvslab.topology.wording import one_line

_WIDTH: Final = 110
_UNFIT: Final = re.compile(r"[^a-z0-9]+")
_NAME_LENGTH: Final = 40


def topology_text(configuration: Configuration) -> tuple[str, tuple[Note, ...]]:
    """Return a topology file for a configuration without faults, and what was assumed and left out.

    Raises BadInput when nothing in it fits a topology.
    """
    services, left_out = carry(configuration.services)
    if not services:
        raise BadInput(
            "nothing here that a topology can hold",
            where=configuration.source,
            expected="a TCP, UDP or SCTP service on an address and a port, with servers",
            found="; ".join(map(str, left_out)) or "no service at all",
        )
    layout = lay_out(services)
    assumed = tuple(Note(f"assumed {text}") for text in layout.assumptions)
    notes = (*configuration.notes, *left_out, *assumed)
    heading = f"Made by 'lvslab import' from {configuration.source} ({configuration.format})."
    return "\n".join([*_comment(heading, notes), "", *_body(configuration, layout, services)]) + "\n", notes


def _comment(heading: str, notes: Iterable[Note]) -> Iterator[str]:
    yield from _commented(heading)
    for note in notes:
        yield from _commented(f"- {note}")


def _commented(text: str) -> Iterator[str]:
    """Yield comment lines without what a template or YAML would take for its own."""
    for line in wrap(one_line(text, without="{}"), _WIDTH, subsequent_indent="  "):
        yield f"# {line}"


def _body(configuration: Configuration, layout: Layout, services: Iterable[CarriedService]) -> Iterator[str]:
    yield f'name: "{_name(configuration.source)}"'
    yield f"title: {{en: Imported from {configuration.format}, zh: 由 {configuration.format} 导入}}"
    yield ""
    yield "networks:"
    for network, subnets in layout.networks.items():
        yield f"  {network}: {_list(map(str, subnets))}"
    yield ""
    yield "nodes:"
    for node in layout.nodes:
        yield f"  {node.name}: {{role: {node.role}, on: {_on(node)}}}"
    yield ""
    yield "services:"
    for service in services:
        yield from _service(service, layout.names)


def _name(source: str) -> str:
    """Return an RFC 1123 label from a file's name."""
    stem = PurePath(source).name.partition(".")[0].lower()
    return _UNFIT.sub("-", stem)[:_NAME_LENGTH].strip("-") or "imported"


def _on(node: LaidNode) -> str:
    return "{" + ", ".join(f"{network}: {_list(map(str, addresses))}" for network, addresses in node.on.items()) + "}"


def _list(texts: Iterable[str]) -> str:
    quoted = [_quoted(text) for text in texts]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


def _quoted(text: str) -> str:
    """YAML takes a colon in a flow mapping for its own."""
    return f'"{text}"' if ":" in text else text


def _kind(service: CarriedService) -> Iterator[str]:
    if service.tunnel.kind is not TunnelKind.IPIP:
        yield f"    tunnel: {service.tunnel.kind}"
        yield f"    tunnel_checksum: {service.tunnel.checksum}"
    if service.persistence is not None:
        yield f"    persistence: {service.persistence.timeout_s}"
        if service.persistence.prefix is not None:
            yield f"    persistence_prefix: {service.persistence.prefix}"
    if Flag.ONE_PACKET in service.flags:
        yield "    one_packet: true"
    others = sorted(service.flags - {Flag.ONE_PACKET})
    if others:
        yield f"    flags: [{', '.join(others)}]"


def _service(service: CarriedService, names: Mapping[Address, str]) -> Iterator[str]:
    key = service.key
    yield f"  - vip: {_quoted(str(key.address))}"
    yield f"    port: {key.port}"
    if key.protocol is not Protocol.TCP:
        yield f"    protocol: {key.protocol}"
    yield f"    method: {service.method}"
    yield f"    scheduler: {service.scheduler}"
    yield from _kind(service)
    yield "    servers:"
    for destination in service.destinations:
        facts = [f"node: {names[destination.address]}"]
        facts += [f"weight: {destination.weight}"] if destination.weight != 1 else []
        facts += [f"port: {destination.port}"] if destination.port != key.port else []
        facts += [f"upper: {destination.upper_threshold}"] if destination.upper_threshold else []
        facts += [f"lower: {destination.lower_threshold}"] if destination.lower_threshold else []
        yield f"      - {{{', '.join(facts)}}}"
