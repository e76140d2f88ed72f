"""From the statements of keepalived.conf to services, findings and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lvslab.errors import BadInput
from lvslab.importing.configuration import Configuration, Format
from lvslab.importing.finding import Finding, Note
from lvslab.importing.keepalived import vocabulary
from lvslab.importing.keepalived.addresses import held_address
from lvslab.importing.keepalived.groups import Groups
from lvslab.importing.keepalived.statements import Statement, read_statements
from lvslab.importing.keepalived.virtual_servers import VirtualServer, read_virtual_server
from lvslab.ipvs.text import WrittenService
from lvslab.topology.model import Address
from lvslab.topology.wording import did_you_mean


@dataclass(slots=True)
class _Read:
    """What comes to light on the way down a file."""

    groups: Groups
    services: list[WrittenService] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    vrrp_addresses: set[Address] | None = None
    left_out: dict[str, int] = field(default_factory=dict)


def read_keepalived(text: str, source: str) -> Configuration:
    """Return the virtual servers of a keepalived.conf. Raises BadInput where its blocks cannot be made out."""
    statements = read_statements(text, source)
    read = _Read(Groups.of(statements))
    for statement in statements:
        try:
            _take(statement, read)
        except BadInput as error:
            read.findings.append(Finding.of(error, statement.line))
    read.findings += read.groups.findings
    return Configuration(
        format=Format.KEEPALIVED,
        source=source,
        services=tuple(read.services),
        findings=tuple(read.findings),
        notes=(*read.notes, *_left_out(read.left_out)),
        vrrp_addresses=None if read.vrrp_addresses is None else frozenset(read.vrrp_addresses),
    )


def _take(statement: Statement, read: _Read) -> None:
    keyword = statement.keyword
    if keyword == "virtual_server":
        _take_virtual_server(read_virtual_server(statement, read.groups), read)
    elif keyword == "vrrp_instance":
        _take_vrrp(statement, read)
    elif keyword in vocabulary.INCLUDES:
        read.notes.append(Note(f"{' '.join(statement.words)}: another file, not read", statement.line))
    elif keyword in vocabulary.LEFT_OUT:
        read.left_out[keyword] = read.left_out.get(keyword, 0) + 1
    elif keyword == "real_server":
        raise BadInput(
            "real_server outside virtual_server",
            found=" ".join(statement.words),
            next_step="the '}' before may close the virtual_server too early",
        )
    elif keyword != "virtual_server_group":
        raise BadInput(
            "unknown keyword, which keepalived ignores",
            found=repr(keyword),
            next_step=did_you_mean(keyword, vocabulary.TOP_LEVEL),
        )


def _take_virtual_server(virtual_server: VirtualServer, read: _Read) -> None:
    read.services += virtual_server.services
    read.findings += virtual_server.findings
    read.notes += virtual_server.notes


def _take_vrrp(statement: Statement, read: _Read) -> None:
    held: list[Address] = []
    for entry in statement.within:
        if entry.keyword in vocabulary.VRRP_ADDRESSES:
            for item in entry.within:
                try:
                    held.append(held_address(item.keyword))
                except BadInput as error:
                    read.findings.append(Finding.of(error, item.line))
    read.vrrp_addresses = (read.vrrp_addresses or set()) | set(held)
    name = statement.words[1] if len(statement.words) > 1 else "without a name"
    listed = ", ".join(map(str, held)) or "no address"
    read.notes.append(
        Note(f"vrrp_instance {name} holds {listed}: here one director always holds every VIP", statement.line)
    )


def _left_out(counts: dict[str, int]) -> Sequence[Note]:
    if not counts:
        return ()
    listed = ", ".join(keyword if count == 1 else f"{keyword} ({count} times)" for keyword, count in counts.items())
    return (Note(f"left out, since they are no part of the table: {listed}"),)
