"""How one packet passed a node: the hop at which it came in and the hop at which it left."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lvslab.walk.changes import Change, changes_between
from lvslab.walk.model import Hop, Names, Step, Walk
from lvslab.walk.words import Field


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

    @property
    def ttl_step(self) -> int:
        """How much the (innermost) TTL fell."""
        before, after = self.entry.packet.ip, self.exit.packet.ip
        return before.ttl - after.ttl if before and after else 0

    def beyond(self, allowed: AbstractSet[Field]) -> tuple[Change, ...]:
        """Return the changes that the forwarding method does not make."""
        return tuple(change for change in self.changes if change.field not in allowed)


def passage_at(walk: Walk, node: str, names: Names) -> Passage | None:
    """Return how the packet passed `node`, or None if it did not leave it again."""
    for hop in walk.hops:
        if hop.node == node and hop.step is Step.FORWARDED:
            entry = walk.before(hop)
            if entry is not None:
                return Passage(entry, hop, changes_between(entry, hop, names))
    return None
