"""Persistence templates: which entries of a connection table they are, and whose client each remembers.

A template has the client's port 0 and, for its address, the network that the service's prefix cuts out of it. It is
keyed by what the client asked for: protocol, VIP and port; by port 0 where the service spans ports or is FTP's; and by
the mark in the VIP's place, protocol IP and port 0, where a firewall mark makes the service. One whose server is gone
has the ports 65535 until it expires, and is nobody's.
Source: net/netfilter/ipvs/ip_vs_core.c (ip_vs_sched_persist), ip_vs_conn.c (ip_vs_check_template).
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final

from lvslab.ipvs.model import AddressKey, Connection, Family, FwmarkKey, Service, ServiceKey
from lvslab.topology.model import Address, Subnet

TEMPLATE_PORT: Final = 0
FTP_PORT: Final = 21
_ALL_PORTS: Final = 0
_SPANNING: Final = "IP"


def client_network(client: Address, prefix: int | None) -> Subnet:
    """Return the addresses that count as one client with `client`; None compares the whole address."""
    return ip_network((client, client.max_prefixlen if prefix is None else prefix), strict=False)


def is_template(entry: Connection) -> bool:
    return entry.client_port == TEMPLATE_PORT


def templates_of(service: Service, entries: Iterable[Connection]) -> dict[Subnet, Connection]:
    """Return the templates of a persistent service by client; none of a service that is not persistent."""
    if service.persistence is None:
        return {}
    prefix = service.persistence.prefix
    wanted = _key(service.key)
    return {
        client_network(entry.client, prefix): entry
        for entry in entries
        if is_template(entry) and (entry.protocol, entry.virtual, entry.virtual_port) == wanted
    }


def _key(key: ServiceKey) -> tuple[str, Address, int]:
    """Return protocol, virtual address and port of the service's templates."""
    if isinstance(key, AddressKey):
        return key.protocol.value.upper(), key.address, _ALL_PORTS if key.port == FTP_PORT else key.port
    return _SPANNING, _as_address(key), _ALL_PORTS


def _as_address(key: FwmarkKey) -> Address:
    """Return a mark as it stands in the VIP's place: the whole IPv4 address, the first word of an IPv6 one."""
    return IPv4Address(key.mark) if key.family is Family.IPV4 else IPv6Address(key.mark << 96)
