"""All connections of a client go to one server while its template lives; the director's table has the template.

Of a firewall mark a template spans all ports (see :mod:`lvslab.ipvs.templates`), so one client's connections to several
services of the mark belong together. Where so much time lies between two connections that the template may have
expired, the client may have been scheduled anew; the table then has the template of the last one.
"""

from __future__ import annotations

from itertools import pairwise

from lvslab.ipvs.intent import from_topology
from lvslab.ipvs.templates import templates_of
from lvslab.topology.model import Subnet, VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.clients import by_client
from lvslab.verify.evidence import DirectorTable, Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.others import own_connections
from lvslab.verify.result import Result
from lvslab.verify.served import Served, served_together

NAME = "persistence"
_SHOWN = 6


def applies(service: VirtualService) -> bool:
    return service.persistence_s is not None


def judge(evidence: Evidence, service: VirtualService, _connections: tuple[Served, ...]) -> Result:
    director = service.director
    statement = Statement(NAME, f"connections of one client go to one server{_how(service)}")
    served = [each for each in own_connections(evidence, served_together(evidence, service)) if each.chosen]
    groups = by_client(served)
    if not any(len(group) > 1 for group in groups.values()):
        return statement.skipped("no client connected more than once")
    table = (evidence.tables or {}).get(director)
    for client, group in groups.items():
        fault = _moved(statement, service, client, group)
        if fault is None and table is not None:
            fault = _without_template(statement, service, client, group[-1], table)
        if fault is not None:
            return fault
    servers = ", ".join(f"{name(client)} {_node(group[0])}" for client, group in list(groups.items())[:_SHOWN])
    seen = f"{count(len(served), 'connection')} of {count(len(groups), 'client')}: {servers}"
    frames = [group[0].opening.origin.number for group in groups.values()]
    return statement.passed(seen, frames, director)


def _how(service: VirtualService) -> str:
    prefix = service.persistence_prefix or service.vip.max_prefixlen
    one = "" if prefix == service.vip.max_prefixlen else f"; those of one /{prefix} are one client"
    return f" for {service.persistence_s} s after the last{one}"


def name(client: Subnet) -> str:
    """Return an address, or a subnet of several."""
    return str(client.network_address if client.num_addresses == 1 else client)


def _node(served: Served) -> str:
    return served.chosen.node if served.chosen else ""


def _moved(statement: Statement, service: VirtualService, client: Subnet, group: list[Served]) -> Result | None:
    """Compare each connection with the one before, unless the template may have expired between the two."""
    timeout_ns = (service.persistence_s or 0) * 10**9
    for before, served in pairwise(group):
        idle_ns = served.opening.origin.time_ns - before.opening.origin.time_ns
        if _node(served) != _node(before) and idle_ns < timeout_ns:
            return statement.failed(
                f"{name(client)} went to {_node(before)}, and {idle_ns / 1e9:.1f} s later to {_node(served)} "
                f"({served.label})",
                where=service.director,
                frames=[before.opening.origin.number, served.opening.origin.number],
                cause=Cause(
                    "the service is not persistent, or not for so many addresses",
                    f"on {service.director}: ipvsadm -Ln shows 'persistent' and the mask",
                ),
            )
    return None


def _without_template(
    statement: Statement, service: VirtualService, client: Subnet, served: Served, table: DirectorTable
) -> Result | None:
    template = templates_of(from_topology(service).service, table.connections).get(client)
    if template is not None and served.chosen is not None and template.destination == served.chosen.address:
        return None
    held = f"a template for {template.destination}" if template else "no template"
    return statement.failed(
        f"{name(client)} was sent to {_node(served)}, but the table has {held}",
        where=service.director,
        frames=[served.opening.origin.number],
        cause=Cause(
            "the template has expired, or the service is not persistent",
            f"on {service.director}: ipvsadm -Lnc shows templates with port 0",
        ),
    )
