"""Round-robin DNS names of a document, with the address that clients reach each server at."""

from __future__ import annotations

from lvslab.topology.document import Document
from lvslab.topology.faults import Collector
from lvslab.topology.groups import require_known, select
from lvslab.topology.model import Address, NameService, Node, Role, VirtualService
from lvslab.topology.vips import vips_of


def resolve_name_services(
    document: Document, nodes: tuple[Node, ...], virtual: tuple[VirtualService, ...], collect: Collector
) -> tuple[NameService, ...]:
    """Resolve `dns:`; a server's record is its first address, a director's are its VIPs."""
    by_role = {role: [node.name for node in nodes if node.role is role] for role in Role}
    services = []
    for index, entry in enumerate(document.dns):
        path = ("dns", index)
        with collect.at(*path, "server"):
            require_known([entry.server], by_role[Role.NAME_SERVER], "name server")
        if entry.resolver is not None:
            with collect.at(*path, "resolver"):
                require_known([entry.resolver], by_role[Role.RESOLVER], "resolver")
        records: list[tuple[str, Address]] = []
        for pattern in entry.servers:
            with collect.at(*path, "servers"):
                directors = [name for name in by_role[Role.DIRECTOR] if vips_of(name, virtual, entry.port)]
                chosen = select(pattern, [*by_role[Role.REAL_SERVER], *directors], "real server or director")
                records.extend(
                    (node.name, address)
                    for node in nodes
                    if node.name in chosen
                    for address in (vips_of(node.name, virtual, entry.port) or node.own_addresses[:1])
                )
        services.append(NameService(entry.name, entry.server, entry.resolver, entry.ttl, entry.port, tuple(records)))
    return tuple(services)
