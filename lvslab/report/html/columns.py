"""Nodes in network order: from the client's side to the servers'."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lvslab.report.graph.cards import make_cards
from lvslab.report.graph.order import networks_in_order, stand
from lvslab.report.graph.phrases import ENGLISH, graph_phrases, role_words
from lvslab.topology.model import Topology
from lvslab.walk.model import Hop

_NO_STACKS = 1_000_000


@dataclass(frozen=True, slots=True)
class Column:
    node: str
    role: str
    """In English words; empty without a topology."""


def all_columns(topology: Topology | None, hops: Iterable[Hop]) -> tuple[Column, ...]:
    """Return a column for each node: the topology's in network order, then others in order of appearance."""
    columns = [] if topology is None else _in_network_order(topology)
    known = {column.node for column in columns}
    others = dict.fromkeys(hop.node for hop in hops if hop.node not in known)
    return (*columns, *(Column(node, "") for node in others))


def _in_network_order(topology: Topology) -> list[Column]:
    cards = make_cards(topology, graph_phrases(ENGLISH), stack_from=_NO_STACKS)
    standing = sorted(stand(cards, networks_in_order(topology)), key=lambda each: each.band)
    nodes = [node for each in standing for node in each.card.nodes]
    return [Column(node.name, role_words(node.role)) for node in nodes]
