"""VS/NAT, request: the director rewrites the destination to the server's address and port; the source stays.

With FULLNAT it puts an address of its own in the place of the source, too.
"""

from __future__ import annotations

from lvslab.topology.model import Destination, VirtualService
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement
from lvslab.verify.expectations.forwarding import Complaint, Forwarding, judge_requests
from lvslab.verify.passage import Passage
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.walk.model import Endpoint
from lvslab.walk.words import Field

NAME = "nat-request"
ALLOWED = frozenset({Field.DESTINATION_MAC, Field.SOURCE_MAC, Field.TTL, Field.DESTINATION, Field.SCTP_CHECKSUM})


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    if service.source_nat:
        return judge_requests(_fullnat(evidence, service), evidence, service, connections)
    expected = f"{service.director} rewrites the destination to a server's address and port; the client's stay"
    rule = Forwarding(Statement(NAME, expected), _complain)
    return judge_requests(rule, evidence, service, connections)


def _fullnat(evidence: Evidence, service: VirtualService) -> Forwarding:
    director = service.director
    own = {str(address) for address in evidence.topology.node(director).own_addresses}

    def complain(passage: Passage, service: VirtualService, destination: Destination) -> Complaint:
        source = passage.exit.source
        if source is None or source.address not in own:
            return f"{destination.node} was sent the source {source}, which is no address of {director}"
        return _complain(passage, service, destination)

    expected = f"{director} rewrites the destination to a server's address and port, and the source to its own"
    look = "iptables-legacy -t nat -S POSTROUTING, sysctl net.ipv4.vs.conntrack"
    return Forwarding(Statement(NAME, expected), complain, look)


def _complain(passage: Passage, service: VirtualService, destination: Destination) -> Complaint:
    extra = passage.beyond(ALLOWED | {Field.SOURCE} if service.source_nat else ALLOWED)
    if extra:
        return f"at {service.director} something else changed, too: {extra}"
    wanted = Endpoint(str(destination.address), destination.port)
    if passage.exit.destination != wanted:
        return f"{destination.node} was sent {passage.exit.destination} instead of {wanted}"
    return passage.wrong_ttl(service.director)
