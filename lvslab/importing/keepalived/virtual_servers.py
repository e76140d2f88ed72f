"""One virtual_server block, as keepalived would install it with all its servers alive.

Defaults are those of keepalived 2.2.7, which `keepalived --config-test` names: scheduler wlc, method NAT, protocol
UDP, persistence of 6 minutes for a service on every port.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from lvslab.errors import BadInput
from lvslab.importing.finding import Finding, Note
from lvslab.importing.keepalived import vocabulary
from lvslab.importing.keepalived.addresses import address_of
from lvslab.importing.keepalived.groups import Groups, Member, members_of
from lvslab.importing.keepalived.real_servers import (
    Forwarding,
    RealServer,
    judged,
    read_forwarding,
    read_server,
    require_known,
    take_server_entry,
)
from lvslab.importing.keepalived.statements import Statement
from lvslab.ipvs import validate
from lvslab.ipvs.model import AddressKey, Family, Flag, FwmarkKey, Persistence, Service, ServiceKey
from lvslab.ipvs.text import WrittenService
from lvslab.ipvs.text.values import number_of, prefix_of, word_of
from lvslab.topology.model import Method, Protocol

PERSISTENCE_S: Final = 360
_FAMILIES: Final = {"inet": Family.IPV4, "inet6": Family.IPV6}
_PROTOCOLS: Final = {protocol.value: protocol for protocol in Protocol}
_NAT: Final = Forwarding(Method.NAT)
_LARGEST: Final = 2**31 - 1


@dataclass(slots=True)
class VirtualServer:
    """What a block says so far, and what is wrong with it."""

    members: tuple[Member, ...]
    scheduler: str = "wlc"
    forwarding: Forwarding = _NAT
    protocol: Protocol | None = None
    family: Family | None = None
    flags: set[Flag] = field(default_factory=set)
    persistence_s: int | None = None
    granularity: Statement | None = None
    engine: str | None = None
    servers: list[RealServer] = field(default_factory=list)
    sorry: RealServer | None = None
    findings: list[Finding] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    services: tuple[WrittenService, ...] = ()


def read_virtual_server(statement: Statement, groups: Groups) -> VirtualServer:
    """Read a block. Raises BadInput, without a place, when its address cannot be made out."""
    statement.require_block()
    read = VirtualServer(_members(statement, groups))
    for entry in statement.within:
        judged(read.findings, entry, partial(_take, entry, read))
    _settle_protocol(read, statement)
    # Nothing else can be wrong once the entries are read: the granularity's family is the service's.
    judged(read.findings, read.granularity or statement, partial(_make_services, read))
    _judge_sorry(read)
    return read


def _members(statement: Statement, groups: Groups) -> tuple[Member, ...]:
    first = statement.argument()
    if first == "group":
        return groups.named(statement.argument(2))
    if first != "fwmark":
        address_of(first)  # a range is for groups
    return tuple(members_of(statement.words[1:], statement.line))


def _take(entry: Statement, into: VirtualServer) -> None:
    match entry.keyword:
        case "lvs_sched" | "lb_algo":
            validate.check_scheduler(entry.argument())  # keepalived ignores an unknown one: wlc stays
            into.scheduler = entry.argument()
        case "lvs_method" | "lb_kind":
            into.forwarding = read_forwarding(entry)
        case "protocol":
            into.protocol = word_of(_PROTOCOLS, entry.argument().lower(), "protocol")
        case "ip_family":
            into.family = word_of(_FAMILIES, entry.argument(), "address family")
        case "ops":
            into.flags.add(Flag.ONE_PACKET)
        case flag if flag in vocabulary.SCHEDULER_FLAGS:
            into.flags.add(Flag(flag))
        case "persistence_timeout":
            bare = len(entry.words) == 1
            into.persistence_s = PERSISTENCE_S if bare else number_of(entry.words[1], "timeout", 0, _LARGEST)
        case "persistence_granularity":
            into.granularity = entry
        case "persistence_engine":
            into.engine = entry.argument()
        case _:
            _take_server(entry, into)


def _take_server(entry: Statement, into: VirtualServer) -> None:
    match entry.keyword:
        case "real_server":
            entry.require_block()
            server = read_server(entry)
            for inner in entry.within:
                judged(into.findings, inner, partial(take_server_entry, inner, server))
            into.servers.append(server)
        case "sorry_server":
            into.sorry = read_server(entry)
        case "sorry_server_lvs_method" if into.sorry is not None:
            into.sorry.forwarding = read_forwarding(entry)
        case "quorum":
            into.notes.append(Note(f"quorum {entry.argument()}: health checks do not run here", entry.line))
        case other:
            require_known(other, vocabulary.SERVICE, "virtual_server")


def _settle_protocol(read: VirtualServer, statement: Statement) -> None:
    if read.protocol is None and any(member.address is not None for member in read.members):
        read.protocol = Protocol.UDP
        read.findings.append(
            Finding(
                statement.line,
                "no protocol: keepalived makes it UDP",
                next_step="add 'protocol TCP', 'protocol UDP' or 'protocol SCTP'",
                is_warning=True,
            )
        )


def _make_services(read: VirtualServer) -> None:
    services = []
    for member in read.members:
        key = _key(member, read)
        port = key.port if isinstance(key, AddressKey) else 0
        service = Service(key, read.scheduler, _persistence(read, key, member), frozenset(read.flags))
        written = WrittenService(service, member.line)
        for server in read.servers:
            written = written.with_destination(server.destination(read.forwarding, port), server.line)
        services.append(written)
    read.services = tuple(services)


def _key(member: Member, read: VirtualServer) -> ServiceKey:
    if member.address is None:
        return FwmarkKey(member.mark, member.family or read.family or _family_of_servers(read))
    return AddressKey(read.protocol or Protocol.UDP, member.address, member.port)


def _family_of_servers(read: VirtualServer) -> Family:
    """keepalived.conf(5): the servers' family, be they tunnelled if they agree; else IPv4."""
    reached = [server for server in read.servers if (server.forwarding or read.forwarding).method is not Method.TUN]
    families = {Family.of(server.address) for server in reached or read.servers}
    return families.pop() if len(families) == 1 else Family.IPV4


def _persistence(read: VirtualServer, key: ServiceKey, member: Member) -> Persistence | None:
    timeout_s = read.persistence_s
    if timeout_s is None and read.granularity is not None:
        timeout_s = PERSISTENCE_S
    if timeout_s is None and isinstance(key, AddressKey) and key.port == 0:
        timeout_s = PERSISTENCE_S
        read.findings.append(
            Finding(
                member.line,
                f"no port: keepalived makes it persistent for {PERSISTENCE_S} s",
                next_step="add a port, or 'persistence_timeout'",
                is_warning=True,
            )
        )
    if timeout_s is None:
        return None
    prefix = None if read.granularity is None else prefix_of(read.granularity.argument(), key.family)
    return Persistence(timeout_s, prefix, read.engine)


def _judge_sorry(read: VirtualServer) -> None:
    """A sorry server is no part of the table while a server is alive; that is when its faults show."""
    if read.sorry is None:
        return
    for written in read.services[:1]:
        key = written.service.key
        destination = read.sorry.destination(read.forwarding, key.port if isinstance(key, AddressKey) else 0)
        try:
            validate.check_destination(written.service, destination)
        except BadInput as error:
            read.findings.append(Finding.of(error, read.sorry.line))
    read.notes.append(
        Note(f"sorry_server {read.sorry.address} takes over when no server is alive: left out", read.sorry.line)
    )
