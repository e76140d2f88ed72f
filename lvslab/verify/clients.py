"""Whom a persistent service takes for one client, and which of its connections are scheduled.

A client's first connection is scheduled and leaves a template in the table; those that follow go where it says while
it lives: until so long after the last of them, or after those that are left have expired
(net/netfilter/ipvs/ip_vs_core.c: ip_vs_sched_persist; ip_vs_conn.c: ip_vs_conn_expire).
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_network

from lvslab.topology.model import Subnet, VirtualService
from lvslab.verify.served import Served


def client_of(served: Served) -> Subnet | None:
    """Return the subnet whose addresses count as one client; of one address without a prefix."""
    initiator = served.conversation.initiator
    if initiator is None:
        return None
    service = served.service
    return ip_network((initiator.address, service.persistence_prefix or service.vip.max_prefixlen), strict=False)


def by_client(connections: Iterable[Served]) -> dict[Subnet, list[Served]]:
    found: dict[Subnet, list[Served]] = {}
    for served in connections:
        client = client_of(served)
        if client is not None:
            found.setdefault(client, []).append(served)
    return found


def scheduled_ones(service: VirtualService, connections: list[Served]) -> list[Served]:
    """Return the connections for which a scheduler is asked: all, or the first of each client."""
    if service.persistence_s is None:
        return connections
    firsts = {id(group[0]) for group in by_client(connections).values()}
    return [served for served in connections if id(served) in firsts]
