"""Slow cables, so that a connection's packets pass the director one by one.

On a network as fast as the kernel an exchange is over before anything else gets to look. At 20 kbit/s the shortest TCP
packet takes 26 ms, which is long against the time between two readings of a table. Answers are short, or TCP would send
their ends again before they had a chance to arrive (RFC 8985, 7: tail loss probe).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lvslab.topology.model import Interface, Node, Topology, VirtualService
from lvslab.traffic.drive import first_client

PACE_BIT_S: Final = 20_000
ANSWER_BYTES: Final = 32


def paced(topology: Topology, service: VirtualService) -> Topology:
    """Return the topology with slow cables at the service's first client and its servers, and with short answers.

    A cable that is slower already stays as it is; so do the director's, or it would hold back what it has decided.
    """
    client, _ = first_client(topology, service.vip)
    talkers = {client.name, *(destination.node for destination in service.destinations)} - {service.director}
    nodes = tuple(_paced(node) if node.name in talkers else node for node in topology.nodes)
    traffic = replace(topology.traffic, answer_bytes=min(topology.traffic.answer_bytes, ANSWER_BYTES))
    return replace(topology, nodes=nodes, traffic=traffic)


def _paced(node: Node) -> Node:
    return replace(node, interfaces=tuple(map(_slowed, node.interfaces)))


def _slowed(card: Interface) -> Interface:
    own = card.shaping.rate_bit_s
    rate_bit_s = PACE_BIT_S if own is None else min(own, PACE_BIT_S)
    return replace(card, shaping=replace(card.shaping, rate_bit_s=rate_bit_s))
