"""One service's connections as the capture shows them: who asked, which server got it, what came back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf

from lvslab.capture.frame import Direction
from lvslab.capture.packet import Icmp
from lvslab.topology.model import Destination, Method, VirtualService
from lvslab.verify.evidence import Evidence
from lvslab.verify.macs import mac_owners
from lvslab.walk.model import Conversation, Endpoint, Hop, Step, Walk


@dataclass(frozen=True, slots=True)
class Served:
    """One connection to a virtual service."""

    service: VirtualService
    conversation: Conversation
    requests: tuple[Walk, ...]
    """What the client sent to the VIP; a reset to a stranger who answered is not among it."""
    chosen: Destination | None
    """The real server that the director sent it to; None if it sent nothing on."""
    destination: Destination | None
    """The real server that received it, by whatever way; None if none did."""
    replies: tuple[Walk, ...]
    """What came back."""

    @property
    def kept(self) -> bool:
        """Whether the director took it for its own server (LocalNode)."""
        return self.destination is not None and self.destination.method is Method.LOCAL

    @property
    def opening(self) -> Walk:
        return self.requests[0]

    @property
    def errors(self) -> tuple[Walk, ...]:
        """ICMP errors about it."""
        return self.conversation.errors

    @property
    def client(self) -> str:
        return self.opening.origin.node

    @property
    def caller(self) -> tuple[str, int | None]:
        """The client's node and port."""
        return self.client, self.conversation.initiator.port if self.conversation.initiator else None

    @property
    def label(self) -> str:
        """Name the connection by its client's end."""
        return f"connection from {self.conversation.initiator}"

    @property
    def through_director(self) -> bool:
        return bool(self.opening.at(self.service.director))

    @property
    def refused_by_director(self) -> bool:
        return any(
            walk.origin.node == self.service.director and isinstance(walk.origin.packet.transport, Icmp)
            for walk in self.errors
        )

    @property
    def swallowed(self) -> bool:
        """Whether the director took it in and neither sent it on nor refused it: what it chose cannot be seen."""
        return self.through_director and self.chosen is None and not self.refused_by_director

    @property
    def answered(self) -> bool:
        """Whether data came back to the client."""
        return any(walk.origin.packet.payload and reached(walk, self.client) for walk in self.replies)


def reached(walk: Walk, node: str) -> bool:
    return any(hop.node == node for hop in walk.receivers)


def vip_endpoint(service: VirtualService) -> Endpoint:
    return Endpoint(str(service.vip), service.port)


def served_connections(evidence: Evidence, service: VirtualService) -> tuple[Served, ...]:
    """Return the service's connections in the order their first packets left the client."""
    owners = mac_owners(evidence)
    found = []
    for conversation in evidence.walks.conversations:
        if conversation.protocol == service.protocol.value and conversation.responder in _asked(conversation, service):
            requests = tuple(
                walk for walk in conversation.requests if walk.origin.destination == conversation.responder
            )
            for own, replies in _parts(service, requests, conversation.replies):
                chosen = _chosen(own, service, owners) or _kept(own, replies, service)
                found.append(Served(service, conversation, own, chosen, _receiver(own, service), replies))
    return tuple(sorted(found, key=lambda served: served.opening.origin.number))


def _asked(conversation: Conversation, service: VirtualService) -> set[Endpoint]:
    """Return whom a client of the service asks: what the director asks itself is rewritten before it is seen."""
    by_director = conversation.requests and conversation.requests[0].origin.node == service.director
    rewritten = [item for item in service.destinations if by_director and item.method is Method.NAT]
    return {vip_endpoint(service), *(Endpoint(str(item.address), item.port) for item in rewritten)}


def _parts(
    service: VirtualService, requests: tuple[Walk, ...], replies: tuple[Walk, ...]
) -> Iterator[tuple[tuple[Walk, ...], tuple[Walk, ...]]]:
    """Yield what the director takes for one connection: with one-packet scheduling each datagram is one.

    A reply belongs to the last datagram before it: the drive waits for one before it sends the next.
    """
    if not service.one_packet:
        if requests:
            yield requests, replies
        return
    starts = [walk.origin.number for walk in requests]
    ends = [*starts[1:], inf]
    for request, start, end in zip(requests, starts, ends, strict=False):
        yield (request,), tuple(walk for walk in replies if start < walk.origin.number < end)


def served_together(evidence: Evidence, service: VirtualService) -> tuple[Served, ...]:
    """Return the connections of everything that is one virtual service to the director, in order."""
    found = [served for each in one_service(evidence, service) for served in served_connections(evidence, each)]
    return tuple(sorted(found, key=lambda served: served.opening.origin.number))


def one_service(evidence: Evidence, service: VirtualService) -> tuple[VirtualService, ...]:
    """Return the services that have a firewall mark in common with `service`, itself among them."""
    if service.mark_key is None:
        return (service,)
    return tuple(each for each in evidence.topology.services if each.mark_key == service.mark_key)


def _chosen(requests: Iterable[Walk], service: VirtualService, owners: Mapping[str, str]) -> Destination | None:
    for walk in requests:
        for hop in walk.at(service.director):
            if hop.step in (Step.FORWARDED, Step.ORIGIN) and hop.direction is Direction.OUT:
                return next((item for item in service.destinations if _is_sent_to(hop, item, owners)), None)
    return None


def _kept(requests: Iterable[Walk], replies: Iterable[Walk], service: VirtualService) -> Destination | None:
    """Return the director's own server if it answered what the director sent to nobody."""
    director = service.director
    if any(walk.at(director) for walk in requests) and any(walk.origin.node == director for walk in replies):
        return next((item for item in service.destinations if item.method is Method.LOCAL), None)
    return None


def _is_sent_to(hop: Hop, destination: Destination, owners: Mapping[str, str]) -> bool:
    """Tell by the field that the forwarding method writes."""
    match destination.method:
        case Method.NAT:
            return hop.destination == Endpoint(str(destination.address), destination.port)
        case Method.TUN:
            return any(tunnel.ip.destination == str(destination.address) for tunnel in hop.packet.tunnels[:1])
    ethernet = hop.packet.ethernet
    return ethernet is not None and owners.get(ethernet.destination) == destination.node


def _receiver(requests: Iterable[Walk], service: VirtualService) -> Destination | None:
    """Look at every request: the first may have been lost and sent again."""
    return next((found for walk in requests if (found := receiver_of(walk, service))), None)


def receiver_of(walk: Walk, service: VirtualService) -> Destination | None:
    """Return the real server that a packet came to in the end."""
    received = {hop.node for hop in walk.receivers}
    return next((item for item in service.destinations if item.node in received), None)
