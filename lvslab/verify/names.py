"""A round-robin name's questions and connections as the capture shows them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from lvslab.capture.packet import Tcp
from lvslab.topology.model import NameService
from lvslab.traffic.dns import DNS_PORT, DnsAnswer, asks_for, decode
from lvslab.traffic.outcome import Outcome
from lvslab.verify.evidence import Evidence
from lvslab.verify.others import is_own
from lvslab.walk.model import Conversation, Hop, Walk


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to a name server or resolver, and its answer if one came."""

    node: str
    """Who asked."""
    port: int | None
    of: str
    """The address that was asked."""
    time_ns: int
    answer: DnsAnswer | None
    end: Hop
    """Where the question was last seen."""
    frames: tuple[int, ...]
    """The question's first and the answer's last frame."""


@dataclass(frozen=True, slots=True)
class Connected:
    """One connection from a client to an address of the name."""

    node: str
    port: int | None
    address: str
    time_ns: int
    conversation: Conversation


def questions(evidence: Evidence, service: NameService, node: str) -> tuple[Asked, ...]:
    """Return all questions for the name to a node in order of time."""
    own = {str(address) for address in evidence.topology.node(node).own_addresses}
    found = [
        _asked(conversation, conversation.responder.address)
        for conversation in evidence.walks.conversations
        if conversation.responder is not None
        and conversation.responder.port == DNS_PORT
        and conversation.responder.address in own
        and conversation.requests
        and _is_about(conversation, service.name)
    ]
    return tuple(sorted(found, key=lambda asked: asked.time_ns))


def own_questions(evidence: Evidence, service: NameService, node: str) -> tuple[Asked, ...]:
    """Return the questions of the drive to a node; those of a resolver are not among them."""
    return tuple(
        asked
        for asked in questions(evidence, service, node)
        if asked.node != service.resolver and is_own(evidence, asked.node, asked.port)
    )


def _is_about(conversation: Conversation, name: str) -> bool:
    """A question of which nothing but the handshake was seen may be about anything."""
    over_tcp = conversation.protocol == "tcp"
    payload = _stream(conversation.requests) if over_tcp else _first_payload(conversation.requests)
    return not payload or asks_for(payload, name, over_tcp=over_tcp)


def connections(evidence: Evidence, service: NameService) -> tuple[Connected, ...]:
    """Return the drive's TCP connections to the name's web port in order of time."""
    found = [
        Connected(
            conversation.requests[0].origin.node,
            conversation.initiator.port,
            conversation.responder.address,
            conversation.requests[0].origin.time_ns,
            conversation,
        )
        for conversation in evidence.walks.conversations
        if conversation.protocol == "tcp"
        and conversation.initiator is not None
        and conversation.responder is not None
        and conversation.responder.port == service.port
        and conversation.requests
        and is_own(evidence, conversation.requests[0].origin.node, conversation.initiator.port)
    ]
    return tuple(sorted(found, key=lambda connected: connected.time_ns))


def never_sent(
    evidence: Evidence, addresses: Collection[str], port: int, seen: Iterable[Asked | Connected]
) -> tuple[Outcome, ...]:
    """Return the failed calls to these addresses of which no packet left the client."""
    callers = {(item.node, item.port) for item in seen}
    return tuple(
        outcome
        for outcome in evidence.outcomes or ()
        if outcome.port == port
        and outcome.address in addresses
        and not outcome.ok
        and (outcome.client, outcome.client_port) not in callers
    )


def _asked(conversation: Conversation, of: str) -> Asked:
    first = conversation.requests[0].origin
    over_tcp = conversation.protocol == "tcp"
    payload = _stream(conversation.replies) if over_tcp else _first_payload(conversation.replies)
    answer = decode(payload, over_tcp=over_tcp) if payload else None
    end = conversation.requests[-1].hops[-1]
    last = conversation.replies[-1].hops[-1] if conversation.replies else end
    port = conversation.initiator.port if conversation.initiator else None
    return Asked(first.node, port, of, first.time_ns, answer, end, (first.number, last.number))


def _first_payload(walks: Iterable[Walk]) -> bytes:
    return next((walk.origin.packet.payload for walk in walks if walk.origin.packet.payload), b"")


def _stream(walks: Iterable[Walk]) -> bytes:
    """Join TCP segments in order of their sequence numbers, each once."""
    segments: dict[int, bytes] = {}
    for walk in walks:
        tcp = walk.origin.packet.transport
        if isinstance(tcp, Tcp) and walk.origin.packet.payload:
            segments.setdefault(tcp.sequence, walk.origin.packet.payload)
    return b"".join(segments[sequence] for sequence in sorted(segments))
