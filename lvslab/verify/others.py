"""Our own traffic, told from that of others: `exec` and `shell` may be busy while a lab that stays is judged.

The drive knows from which ports it called. Of a stored capture nobody knows, and all of its traffic is judged.
"""

from __future__ import annotations

from collections.abc import Iterable

from lvslab.capture.packet import WITH_PORTS
from lvslab.verify.evidence import Evidence
from lvslab.verify.served import Served
from lvslab.walk.model import Conversation, Endpoint, Hop, Unmatched

_WITH_PORTS = ("tcp", "udp", "sctp")


def is_own(evidence: Evidence, node: str, port: int | None) -> bool:
    """Return whether a call from this node and port is one of the drive's."""
    return evidence.outcomes is None or any(
        (outcome.client, outcome.client_port) == (node, port) for outcome in evidence.outcomes
    )


def own_connections(evidence: Evidence, connections: Iterable[Served]) -> tuple[Served, ...]:
    return tuple(served for served in connections if is_own(evidence, *served.caller))


def may_be_own(evidence: Evidence, ends: Iterable[Endpoint | None]) -> bool:
    """Return whether a packet between these ends may be one of the drive's, whichever way it goes."""
    if evidence.outcomes is None:
        return True
    ports = [end.port for end in ends if end is not None]
    own = {outcome.client_port for outcome in evidence.outcomes}
    return not ports or None in ports or not own.isdisjoint(ports)


def count_of_others(evidence: Evidence, node: str) -> int:
    """Return how many connections of others passed a node, or seem to have."""
    return sum(
        is_of_others(evidence, conversation) and any(walk.at(node) for walk in conversation.walks)
        for conversation in evidence.walks.conversations
    ) + sum(_is_strange(evidence, unmatched, node) for unmatched in evidence.walks.unmatched)


def is_of_others(evidence: Evidence, conversation: Conversation) -> bool:
    """Return whether a connection is not one of the drive's: a shell's, or the end of one from before the capture."""
    if conversation.protocol not in _WITH_PORTS or not conversation.requests or conversation.initiator is None:
        return False
    return not is_own(evidence, conversation.requests[0].origin.node, conversation.initiator.port)


def _is_strange(evidence: Evidence, unmatched: Unmatched, node: str) -> bool:
    return any(hop.node == node and _has_ports(hop) for hop in unmatched.hops) and not any(
        may_be_own(evidence, (hop.source, hop.destination)) for hop in unmatched.hops
    )


def _has_ports(hop: Hop) -> bool:
    return isinstance(hop.packet.transport, WITH_PORTS)
