"""Which packets a page shows: whole conversations, up to a bound; what is left out is counted, never forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from lvslab.walk.model import Conversation, Unmatched, Walks
from lvslab.walk.select import connections

MAX_HOPS = 600
"""Hops on one page: about 3 kB each, so that a page stays below 2 MB or so and opens at once."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A conversation, or what could not be joined."""

    first_frame: int
    conversation: Conversation | None
    number: int | None = None
    """Its number among the connections, as ``walk --connection`` counts them."""
    unmatched: tuple[Unmatched, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    chosen: tuple[Chosen, ...]
    """In order of time."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Conversations by protocol, and `unmatched`."""


def select(walks: Walks, evidence: AbstractSet[int], *, first: int = 1, most: int = MAX_HOPS) -> Selection:
    """Choose whole conversations: connection number `first`, evidence, other connections, then the rest.

    One is always chosen, however long.
    """
    candidates = sorted(_candidates(walks), key=lambda each: _rank(each, evidence, first))
    chosen: list[Chosen] = []
    left_out: Counter[str] = Counter()
    room = most
    for candidate in candidates:
        hops = _count_hops(candidate)
        if chosen and hops > room:
            left_out[_kind(candidate)] += 1
        else:
            chosen.append(candidate)
            room -= hops
    return Selection(tuple(sorted(chosen, key=lambda each: each.first_frame)), left_out)


def _candidates(walks: Walks) -> Iterable[Chosen]:
    numbers = {id(item): number for number, item in enumerate(connections(walks), 1)}
    for item in walks.conversations:
        yield Chosen(item.walks[0].origin.number, item, numbers.get(id(item)))
    if walks.unmatched:
        first = min(hop.number for rest in walks.unmatched for hop in (*rest.hops, *rest.overheard))
        yield Chosen(first, None, unmatched=walks.unmatched)


def _rank(candidate: Chosen, evidence: AbstractSet[int], first: int) -> tuple[bool, bool, bool, int]:
    return (
        candidate.number != first,
        evidence.isdisjoint(_frames(candidate)),
        candidate.number is None,
        candidate.first_frame,
    )


def _frames(candidate: Chosen) -> Iterable[int]:
    if candidate.conversation is None:
        return [hop.number for rest in candidate.unmatched for hop in (*rest.hops, *rest.overheard)]
    return [hop.number for walk in candidate.conversation.walks for hop in (*walk.hops, *walk.overheard)]


def _count_hops(candidate: Chosen) -> int:
    if candidate.conversation is None:
        return sum(len(rest.hops or rest.overheard) for rest in candidate.unmatched)
    return sum(len(walk.hops) for walk in candidate.conversation.walks)


def _kind(candidate: Chosen) -> str:
    return candidate.conversation.protocol if candidate.conversation else "unmatched"
