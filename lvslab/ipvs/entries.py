"""Entries of a connection table with what else is known of them: template or connection, method, origin.

The kernel does not show an entry's flags. What follows from other things it shows is said here: the forwarding method
from the table of services, and from the method which half of a connection the director sees (ip_vs_ctl.c:
__ip_vs_update_dest sets IP_VS_CONN_F_NOOUTPUT unless a destination is masqueraded); whether the entry came from another
director's synchronisation from /proc/net/ip_vs_conn_sync.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from lvslab.ipvs.model import AddressKey, Connection, Destination, ServiceEntry, ServiceKey
from lvslab.ipvs.templates import is_template
from lvslab.ipvs.watched import EntryKey, entry_key
from lvslab.topology.model import Method

INVALID_PORT = 0xFFFF
"""Both ports of a template whose server is gone (ip_vs_conn.c: ip_vs_check_template)."""


class Kind(StrEnum):
    CONNECTION = "connection"
    TEMPLATE = "template"
    """Persistence: it sends its client's next connections to the same server."""
    INVALID_TEMPLATE = "invalid template"
    """Its server is gone; it is there until its time is over."""


class Sees(StrEnum):
    """What of a connection the director sees, and with it which state machine the kernel follows.

    With the first reply that passes it leaves the one for half a connection (ip_vs_proto_tcp.c: set_tcp_state).
    """

    BOTH = "both halves"
    CLIENT = "the client's half"


class Origin(StrEnum):
    LOCAL = "local"
    SYNC = "sync"
    """Heard of from another director."""


@dataclass(frozen=True, slots=True)
class Entry:
    connection: Connection
    kind: Kind
    method: Method | None
    """None if the server is no longer in the table of services."""
    origin: Origin | None
    """None if the kernel was not asked, or the entry came and went between the two readings."""

    @property
    def sees(self) -> Sees | None:
        """None for a template, which is no connection, and where the method is not known."""
        if self.method is None or self.kind is not Kind.CONNECTION:
            return None
        return half_of(self.method)


def half_of(method: Method) -> Sees:
    """Return what of a connection the director sees by its method; of its own connections as a client it sees all."""
    return Sees.BOTH if method in (Method.NAT, Method.LOCAL) else Sees.CLIENT


def known_entries(
    connections: Iterable[Connection], services: Iterable[ServiceEntry], origins: Mapping[EntryKey, Origin]
) -> tuple[Entry, ...]:
    """Return the entries in the same order."""
    listed = tuple(services)
    return tuple(Entry(each, _kind(each), _method(each, listed), origins.get(entry_key(each))) for each in connections)


def _kind(entry: Connection) -> Kind:
    if not is_template(entry):
        return Kind.CONNECTION
    return Kind.INVALID_TEMPLATE if entry.virtual_port == INVALID_PORT else Kind.TEMPLATE


def _method(entry: Connection, services: tuple[ServiceEntry, ...]) -> Method | None:
    """Look first at the service the client asked for, then, for marks and what spans ports, at all of them."""
    asked = (entry.protocol.lower(), entry.virtual, entry.virtual_port)
    first = [each for each in services if _asked_for(each.service.key) == asked]
    for service in (*first, *services):
        for item in service.destinations:
            if _is(item.destination, entry):
                return item.destination.method
    return None


def _asked_for(key: ServiceKey) -> object:
    return (key.protocol.value, key.address, key.port) if isinstance(key, AddressKey) else None


def _is(destination: Destination, entry: Connection) -> bool:
    """Tell by address and port; port 0 stands for all, at a mark's servers and in templates that span ports."""
    return destination.address == entry.destination and (
        destination.port == entry.destination_port or 0 in (destination.port, entry.destination_port)
    )
