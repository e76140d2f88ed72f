"""VS/NAT, request: the director rewrites the destination to the server's address and port; the source stays."""

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
ALLOWED = frozenset({Field.DESTINATION_MAC, Field.SOURCE_MAC, Field.TTL, Field.DESTINATION})


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    expected = f"{service.director} rewrites the destination to a server's address and port; the client's stay"
    rule = Forwarding(Statement(NAME, expected), _complain)
    return judge_requests(rule, evidence, service, connections)


def _complain(passage: Passage, service: VirtualService, destination: Destination) -> Complaint:
    extra = passage.beyond(ALLOWED)
    if extra:
        return f"at {service.director} something else changed, too: {extra}"
    wanted = Endpoint(str(destination.address), destination.port)
    if passage.exit.destination != wanted:
        return f"{destination.node} was sent {passage.exit.destination} instead of {wanted}"
    return passage.wrong_ttl(service.director)
