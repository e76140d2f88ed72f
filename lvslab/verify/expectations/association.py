"""SCTP: a server offers the client no address beside the virtual one.

What a server bound to several addresses has, its INIT ACK lists (RFC 9260 section 5.1.2), and IPVS looks at headers
alone. The client would send to those addresses, too, past the director, and take answers from them.
"""

from __future__ import annotations

from lvslab.capture.packet import Sctp
from lvslab.capture.sctp import INIT_ACK, has_chunk, offered_addresses
from lvslab.topology.model import Method, Protocol, VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.walk.model import Hop

NAME = "association"


def applies(service: VirtualService) -> bool:
    return service.protocol is Protocol.SCTP


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    statement = Statement(NAME, f"servers offer the client of {service.vip} no other address")
    offers = _offers(evidence, connections)
    if not offers:
        return statement.skipped("no server took up an association")
    for hop in offers:
        others = [address for address in _offered(hop) if address != str(service.vip)]
        if others:
            return statement.failed(
                f"the INIT ACK of {hop.node} offers {' and '.join(others)}",
                where=hop.where,
                frames=[hop.number],
                cause=_bound_to_all(service, hop.node),
            )
    return statement.passed(f"{count(len(offers), 'INIT ACK')}, none with an address in it", [offers[0].number])


def _offers(evidence: Evidence, connections: tuple[Served, ...]) -> list[Hop]:
    """Return INIT ACKs as their servers sent them: answers, and what came to the client from an address of its own."""
    clients = {served.conversation.initiator for served in connections}
    answers = {walk.origin.number for served in connections for walk in served.replies}
    origins = [walk.origin for walk in evidence.walks.walks]
    return [hop for hop in origins if (hop.number in answers or hop.destination in clients) and _is_offer(hop)]


def _is_offer(hop: Hop) -> bool:
    return isinstance(hop.packet.transport, Sctp) and has_chunk(hop.packet.transport, INIT_ACK)


def _offered(hop: Hop) -> tuple[str, ...]:
    transport = hop.packet.transport
    return offered_addresses(transport) if isinstance(transport, Sctp) else ()


def _bound_to_all(service: VirtualService, node: str) -> Cause:
    own = next((item.address for item in service.destinations if item.node == node), service.vip)
    asked_at = own if service.method is Method.NAT else service.vip
    return Cause(
        f"the server on {node} is bound to every address it has (multi-homed), and IPVS rewrites headers only",
        f"on {node}: bind the server to {asked_at} alone; cat /proc/net/sctp/eps shows what it is bound to",
    )
