"""Which walks to look at: a connection of the clients', its first packets, the ARP exchange behind it."""

from __future__ import annotations

from dataclasses import replace

from lvslab.walk.model import Conversation, Walk, Walks

_DNS_PORT = 53


def connections(walks: Walks) -> tuple[Conversation, ...]:
    """Return the TCP, UDP and SCTP conversations in order of time; DNS questions only if there is nothing else."""
    found = [item for item in walks.conversations if item.protocol in ("tcp", "udp", "sctp") and item.requests]
    calls = [item for item in found if item.responder and item.responder.port != _DNS_PORT]
    return tuple(calls or found)


def opening(conversation: Conversation) -> Conversation:
    """Return the conversation cut down to the first packet of each kind."""
    return replace(
        conversation,
        requests=conversation.requests[:1],
        replies=conversation.replies[:1],
        errors=conversation.errors[:1],
    )


def arp_about(walks: Walks, address: str) -> tuple[Walk, ...]:
    """Return who asked for an address by ARP, and who claimed to have it, in order of time."""
    return tuple(walk for walk in walks.walks if address in _spoken_of(walk))


def _spoken_of(walk: Walk) -> tuple[str, ...]:
    """A question is about its target; an answer, and a question about oneself, about its sender."""
    arp = walk.origin.packet.arp
    if arp is None:
        return ()
    return (arp.target_ip,) if arp.operation == 1 else (arp.sender_ip,)
