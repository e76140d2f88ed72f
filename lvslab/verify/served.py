"""One service's connections as the capture shows them: who asked, which server got it, what came back."""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.capture.packet import Tcp
from lvslab.topology.model import Destination, VirtualService
from lvslab.verify.evidence import Evidence
from lvslab.walk.model import Conversation, Endpoint, Hop, Walk


@dataclass(frozen=True, slots=True)
class Served:
    """One connection to a virtual service."""

    service: VirtualService
    conversation: Conversation
    destination: Destination | None
    """The real server whose node received its first packet; None if none did."""

    @property
    def opening(self) -> Walk:
        return self.conversation.requests[0]

    @property
    def requests(self) -> tuple[Walk, ...]:
        return self.conversation.requests

    @property
    def replies(self) -> tuple[Walk, ...]:
        return self.conversation.replies

    @property
    def client(self) -> str:
        return self.opening.origin.node

    @property
    def label(self) -> str:
        """Name the connection by its client's end."""
        return f"connection from {self.conversation.initiator}"

    def through_director(self) -> bool:
        return bool(self.opening.at(self.service.director))

    def reset_by_client(self) -> Hop | None:
        """Return where the client threw the connection away: it got an answer from a stranger."""
        for walk in self.requests:
            tcp = walk.origin.packet.transport
            if isinstance(tcp, Tcp) and "R" in tcp.flags:
                return walk.origin
        return None


def served_connections(evidence: Evidence, service: VirtualService) -> tuple[Served, ...]:
    """Return the service's connections in the order their first packets left the client."""
    vip = Endpoint(str(service.vip), service.port)
    found = [
        Served(service, conversation, _destination(conversation, service))
        for conversation in evidence.walks.conversations
        if conversation.protocol == service.protocol.value and conversation.responder == vip and conversation.requests
    ]
    return tuple(sorted(found, key=lambda served: served.opening.origin.number))


def _destination(conversation: Conversation, service: VirtualService) -> Destination | None:
    """Look at every request: the first may have been lost and sent again."""
    for walk in conversation.requests:
        received = {hop.node for hop in walk.receivers}
        for destination in service.destinations:
            if destination.node in received:
                return destination
    return None
