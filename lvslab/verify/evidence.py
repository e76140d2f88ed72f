"""Everything a verdict may rest on: the capture and its walks always, the rest when the lab was there to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lvslab.capture.frame import Capture
from lvslab.ipvs.model import Connection, ServiceEntry, Stats
from lvslab.topology.model import Topology
from lvslab.traffic.outcome import Outcome
from lvslab.walk.model import Walks

NOTHING = Stats()
"""The counters of a director that has done nothing yet."""


@dataclass(frozen=True, slots=True)
class DirectorTable:
    """A director's IPVS table after the traffic: services with their connection counts, and immediate totals."""

    services: tuple[ServiceEntry, ...]
    totals: Stats
    earlier: Stats = NOTHING
    """The totals before the traffic: nothing resets them while the namespace lives."""
    connections: tuple[Connection, ...] = ()
    """The entries of the connection table; those of earlier traffic linger in it."""

    @property
    def fresh(self) -> bool:
        """Whether no connection of the director's went before."""
        return self.earlier == NOTHING


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node's kernel says of itself, read after the traffic to explain a failure."""

    addresses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Address/prefix by device."""
    up: frozenset[str] = frozenset()
    """Devices that are up."""
    gateways: tuple[str, ...] = ()
    """Gateways of default routes."""
    sysctls: Mapping[str, str] = field(default_factory=dict)
    listening: frozenset[tuple[str, int]] = frozenset()
    """(protocol, port) that something listens on."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """Kernel counters by name: IPReversePathFilter, …"""

    def holder_of(self, address: str) -> tuple[str, int] | None:
        """Return (device, prefix length) of an address the node has."""
        for device, entries in self.addresses.items():
            for entry in entries:
                own, _, prefix = entry.partition("/")
                if own == address:
                    return device, int(prefix)
        return None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one topology's drive left to judge. Parts that a stored capture cannot have are None."""

    topology: Topology
    capture: Capture
    walks: Walks
    outcomes: tuple[Outcome, ...] | None = None
    tables: Mapping[str, DirectorTable] | None = None
    """By director."""
    facts: Mapping[str, NodeFacts] | None = None
    """By node; gathered only when something failed."""
    used: bool = False
    """Whether the lab may have been used or changed since it was built."""

    @property
    def begins_afresh(self) -> bool:
        """Whether the drive is known to be the first traffic ever: schedulers begin their cycle, caches are empty."""
        fresh = all(table.fresh for table in (self.tables or {}).values())
        return self.outcomes is not None and not self.used and fresh
