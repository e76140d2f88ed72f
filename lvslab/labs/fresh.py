"""Calls to a copy of a virtual service: its scheduler begins at the beginning, and the student's own is left alone.

The copy has an unused port of the VIP, and the same scheduler, flags and servers, added in the same order. Its port
has no entries in the connection table either, since a destination that is made again keeps the connections that
it had (net/netfilter/ipvs/ip_vs_ctl.c, ip_vs_trash_get_dest). Ports can be mapped by NAT only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import Field

from lvslab.labs.held_open import servers_beside
from lvslab.labs.node_names import NodeName
from lvslab.labs.view import View
from lvslab.topology.document import Connections, Entry, Weight
from lvslab.topology.model import Method

if TYPE_CHECKING:
    from lvslab.ipvs.model import AddressKey, Service
    from lvslab.ipvs.table import IpvsTable

FIRST_PORT = 7001


class Fresh(Entry):
    """How a copy of the service is called: `weights` it begins with, `skip` calls, then `edit`, then those that count.

    `held` connections are opened first and stay open.
    """

    weights: dict[NodeName, Weight] = Field(default={})
    skip: Connections = 0
    edit: dict[NodeName, Weight] = Field(default={})
    held: Connections = 0


@dataclass(frozen=True, slots=True)
class _Copy:
    """An installed copy."""

    view: View
    table: IpvsTable
    service: Service
    key: AddressKey

    def edit(self, weights: Mapping[str, int]) -> None:
        for entry in self.table.service(self.key).destinations:
            node = self.view.owner_of_address(str(entry.destination.address))
            if node in weights:
                self.table.set_destination(self.service, replace(entry.destination, weight=weights[node]))


def fresh_servers(
    view: View, client: str | None, vip: str | None, times: int, how: Fresh, *, keep: bool = False
) -> list[str] | None:
    """Return who answers the calls to a copy, in order; None without a service to copy.

    With `keep` each connection stays open until the last one is made.

    Raises LookupError for a service that is not NAT, KernelFault.
    """
    caller = client or view.client
    with _copied(view, vip, how.weights) as copy:
        if copy is None:
            return None
        address, port = str(copy.key.address), copy.key.port
        if how.skip:
            view.lab.node(caller).get(address, port, times=how.skip)
        copy.edit(how.edit)
        if how.held or keep:
            return servers_beside(view, caller, address, port, held=how.held, times=times, keep=keep)
        return [each.server or each.status for each in view.lab.node(caller).get(address, port, times=times)]


@contextmanager
def _copied(view: View, vip: str | None, weights: Mapping[str, int]) -> Iterator[_Copy | None]:
    from lvslab.ipvs.intent import entry_of, from_kernel, key_of
    from lvslab.ipvs.model import AddressKey, IntendedService

    wanted = view.service(vip)
    table = view.lab.ipvs(wanted.director)
    entry = entry_of(table.services(), wanted)
    if entry is None or not entry.destinations:
        yield None
        return
    key = key_of(wanted)
    if not isinstance(key, AddressKey) or any(one.destination.method is not Method.NAT for one in entry.destinations):
        raise LookupError("only a service by NAT can be copied to another port")
    own = from_kernel(entry)
    port = _unused_port(view, wanted.director)
    key = replace(key, port=port)
    service = replace(own.service, key=key)
    destinations = tuple(
        replace(one, weight=weights.get(view.owner_of_address(str(one.address)), one.weight))
        for one in own.destinations
    )
    table.install([IntendedService(service, destinations)])
    try:
        yield _Copy(view, table, service, key)
    finally:
        table.delete_service(key)


def _unused_port(view: View, director: str) -> int:
    used = {entry.virtual_port for entry in view.connections(director)}
    used |= {getattr(entry.service.key, "port", 0) for entry in view.table(director)}
    return next(port for port in range(FIRST_PORT, 1 << 16) if port not in used)
