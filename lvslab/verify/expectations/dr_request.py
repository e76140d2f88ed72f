"""VS/DR: the director changes the MACs, the TTL and with it the IP checksum, and nothing else."""

from __future__ import annotations

from lvslab.topology.model import Destination, VirtualService
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement
from lvslab.verify.expectations.forwarding import Complaint, Forwarding, judge_requests
from lvslab.verify.passage import Passage
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.walk.words import Field

NAME = "dr-request"
ALLOWED = frozenset({Field.DESTINATION_MAC, Field.SOURCE_MAC, Field.TTL})


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    expected = f"{service.director} rewrites the MACs and takes one off the TTL; addresses, ports and payload stay"
    rule = Forwarding(Statement(NAME, expected), _complain)
    return judge_requests(rule, evidence, service, connections)


def _complain(passage: Passage, service: VirtualService, destination: Destination) -> Complaint:
    extra = passage.beyond(ALLOWED)
    if extra:
        return f"at {service.director} something else changed, too: {extra}"
    if Field.DESTINATION_MAC not in passage.fields:
        return f"the destination MAC was not rewritten to that of {destination.node}"
    return passage.wrong_ttl(service.director)
