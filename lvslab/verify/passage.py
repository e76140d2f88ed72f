"""How one packet passed a node: the hop at which it came in and the hop at which it left."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lvslab.walk.changes import Change, changes_between
from lvslab.walk.model import Hop, Names, Step, Walk
from lvslab.walk.words import Field

_ANY = frozenset({Field.FRAGMENTS})
"""Any forwarding node may send a packet in pieces; whether it should is another question."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A packet forwarded by a node."""

    entry: Hop
    exit: Hop
    changes: tuple[Change, ...]

    @property
    def fields(self) -> frozenset[Field]:
        return frozenset(change.field for change in self.changes)

    @property
    def frames(self) -> tuple[int, int]:
        return self.entry.number, self.exit.number

    def beyond(self, allowed: AbstractSet[Field]) -> str:
        """Return the first change that the forwarding method does not make, in words; empty if there is none."""
        return next((item.sentence or str(item.field) for item in self.changes if item.field not in allowed | _ANY), "")

    def wrong_ttl(self, node: str) -> str:
        """Return what is wrong with the (innermost) TTL: every forwarding node takes one off (RFC 1812, 5.3.1)."""
        before, after = self.entry.packet.ip, self.exit.packet.ip
        if before is None or after is None or before.ttl - after.ttl == 1:
            return ""
        return f"{node} changed the TTL {before.ttl} → {after.ttl} instead of taking one off"


def passages_at(walk: Walk, node: str, names: Names) -> tuple[Passage, ...]:
    """Return each time the packet came to `node` and left it again: once, unless it goes round in circles."""
    found = []
    for hop in walk.hops:
        if hop.node == node and hop.step is Step.FORWARDED:
            entry = walk.before(hop)
            if entry is not None:
                found.append(Passage(entry, hop, changes_between(entry, hop, names)))
    return tuple(found)
