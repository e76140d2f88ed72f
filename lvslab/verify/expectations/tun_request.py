"""VS/TUN, request: one outer IP header from the director to the server; inside, only the TTL changes."""

from __future__ import annotations

from lvslab.topology.model import Destination, TunnelKind, VirtualService
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement
from lvslab.verify.expectations.forwarding import Complaint, Forwarding, judge_requests
from lvslab.verify.passage import Passage
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.walk.words import Field

NAME = "tun-request"
IPIP_KINDS = {(4, 4): "ipip", (6, 6): "ip6ip6", (4, 6): "ip4ip6", (6, 4): "sit"}
"""By IP version inside and outside: RFC 2003, RFC 2473, RFC 4213."""
ALLOWED = frozenset({Field.DESTINATION_MAC, Field.SOURCE_MAC, Field.OUTER_HEADER, Field.TTL, Field.INNER_TTL})


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    expected = f"{service.director} adds one outer header to a server's address; inside, only the TTL falls by one"
    sources = {str(address) for address in evidence.topology.node(service.director).own_addresses}

    def complain(passage: Passage, service: VirtualService, destination: Destination) -> Complaint:
        return _complain(passage, service, destination, sources)

    return judge_requests(Forwarding(Statement(NAME, expected), complain), evidence, service, connections)


def _kind(service: VirtualService, destination: Destination) -> str:
    """Return what the capture calls a tunnel of this kind and these IP versions."""
    if destination.tunnel.kind is not TunnelKind.IPIP:
        return destination.tunnel.kind.value
    return IPIP_KINDS[service.vip.version, destination.address.version]


def _complain(passage: Passage, service: VirtualService, destination: Destination, sources: set[str]) -> Complaint:
    tunnels = passage.exit.packet.tunnels
    if len(tunnels) != 1:
        return f"{service.director} sent it with {len(tunnels)} outer headers"
    outer = tunnels[0]
    wanted = _kind(service, destination)
    if outer.kind != wanted:
        return f"the outer header is {outer.kind}, not {wanted}"
    if outer.ip.destination != str(destination.address):
        return f"the outer header leads to {outer.ip.destination} instead of {destination.address}"
    if outer.ip.source not in sources:
        return f"the outer header comes from {outer.ip.source}, which is no address of {service.director}"
    extra = passage.beyond(ALLOWED)
    if extra:
        return f"at {service.director} something else changed, too: {extra}"
    return passage.wrong_ttl(service.director)
