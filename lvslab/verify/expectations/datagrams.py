"""Which datagrams of one source port belong together: all of them, or with one-packet scheduling none.

Without it the first makes an entry in the director's table, and the rest follow it until it expires. With it each is
scheduled, and no entry is left (net/netfilter/ipvs/ip_vs_core.c: ip_vs_schedule; ip_vs_conn.c: ip_vs_conn_put).
"""

from __future__ import annotations

from lvslab.topology.model import Protocol, VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import DirectorTable, Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served, receiver_of

NAME = "datagrams"
ROTATING = ("rr", "wrr")
"""Schedulers that give datagrams sent one after another to different servers."""


def applies(service: VirtualService) -> bool:
    return service.protocol is Protocol.UDP and service.persistence_s is None


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    table = (evidence.tables or {}).get(service.director)
    by_port: dict[tuple[str, int | None], list[str]] = {}
    for served in connections:
        by_port.setdefault(served.caller, []).extend(_servers(served))
    several = {caller: servers for caller, servers in by_port.items() if len(servers) > 1}
    rule = _each_by_itself if service.one_packet else _together
    return rule(service, several, table)


def _servers(served: Served) -> list[str]:
    """Return who received each datagram."""
    found = [receiver_of(walk, served.service) for walk in served.requests]
    return [destination.node for destination in found if destination is not None]


_ByPort = dict[tuple[str, int | None], list[str]]


def _together(service: VirtualService, by_port: _ByPort, _table: DirectorTable | None) -> Result:
    statement = Statement(NAME, "datagrams of one source port stay with one server")
    if not by_port:
        return statement.skipped("no port sent two datagrams that arrived")
    for (client, port), servers in by_port.items():
        if len(set(servers)) > 1:
            return statement.failed(
                f"those from {client} port {port} went to {', '.join(servers)}",
                where=service.director,
                cause=Cause(
                    "the service schedules each datagram by itself, or the entry expired in between",
                    f"on {service.director}: ipvsadm -Ln shows 'ops'; ipvsadm -L --timeout",
                ),
            )
    return statement.passed(_seen(by_port), where=service.director)


def _each_by_itself(service: VirtualService, by_port: _ByPort, table: DirectorTable | None) -> Result:
    statement = Statement(NAME, "each datagram is scheduled by itself and leaves no entry behind")
    if not by_port:
        return statement.skipped("no port sent two datagrams that arrived")
    left = _entries(service, by_port, table)
    if left:
        return statement.failed(
            f"{count(left, 'entry', 'entries')} of them in the table",
            where=service.director,
            cause=_not_one_packet(service),
        )
    stuck = [caller for caller, servers in by_port.items() if len(set(servers)) == 1]
    usable = {item.node for item in service.destinations if item.weight}
    if stuck and len(stuck) == len(by_port) and service.scheduler in ROTATING and len(usable) > 1:
        client, port = stuck[0]
        return statement.failed(
            f"all from {client} port {port} went to {by_port[stuck[0]][0]}",
            where=service.director,
            cause=_not_one_packet(service),
        )
    return statement.passed(_seen(by_port), where=service.director)


def _entries(service: VirtualService, by_port: _ByPort, table: DirectorTable | None) -> int:
    ports = {port for _, port in by_port}
    return sum(
        entry.protocol == "UDP" and entry.virtual == service.vip and entry.client_port in ports
        for entry in (table.connections if table is not None else ())
    )


def _not_one_packet(service: VirtualService) -> Cause:
    return Cause(
        "the service has no one-packet scheduling", f"on {service.director}: ipvsadm -Ln shows 'ops' where it has"
    )


def _seen(by_port: _ByPort) -> str:
    (_, port), servers = next(iter(by_port.items()))
    total = sum(map(len, by_port.values()))
    return f"{count(total, 'datagram')} from {count(len(by_port), 'port')}; port {port}: {', '.join(servers)}"
