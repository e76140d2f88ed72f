"""Why a call was refused."""

from __future__ import annotations

from lvslab.verify.causes.cause import Cause, facts_of
from lvslab.verify.causes.requests import nobody_to_take_it
from lvslab.verify.causes.servers import silent_server
from lvslab.verify.evidence import Evidence
from lvslab.verify.served import Served


def refused_by(evidence: Evidence, served: Served, node: str) -> Cause:
    """`node` answered a call with a reset or an ICMP error."""
    service = served.service
    if node != service.director or served.kept:
        port = served.destination.port if served.destination else service.port
        facts = facts_of(evidence, node)
        sure = facts is not None and (service.protocol.value, port) not in facts.listening
        return Cause(
            f"{'' if sure else 'likely: '}nothing listens on {service.protocol.value} port {port} of {node}",
            f"start the server on {node}, or set its weight to 0 on {service.director}; ss -ln shows what listens",
        )
    if served.destination is not None:
        # The director passes on what its server said of the wrapped packet (ip_vs_core.c: ip_vs_in_icmp).
        return silent_server(evidence, service, served.destination.node)
    return nobody_to_take_it(evidence, service) or Cause(
        f"{node} has no server for {service.vip}:{service.port}", f"on {node}: ipvsadm -Ln"
    )
