"""Whom a persistent service takes for one client.

A client's first connection is scheduled and leaves a template in the table; those that follow go where it says while
it lives: until so long after the last of them, or after those that are left have expired
(net/netfilter/ipvs/ip_vs_core.c: ip_vs_sched_persist; ip_vs_conn.c: ip_vs_conn_expire).
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address

from lvslab.ipvs.templates import client_network
from lvslab.topology.model import Subnet
from lvslab.verify.served import Served


def client_of(served: Served) -> Subnet | None:
    """Return the subnet whose addresses count as one client; of one address without a prefix."""
    initiator = served.conversation.initiator
    if initiator is None:
        return None
    return client_network(ip_address(initiator.address), served.service.persistence_prefix)


def by_client(connections: Iterable[Served]) -> dict[Subnet, list[Served]]:
    found: dict[Subnet, list[Served]] = {}
    for served in connections:
        client = client_of(served)
        if client is not None:
            found.setdefault(client, []).append(served)
    return found
