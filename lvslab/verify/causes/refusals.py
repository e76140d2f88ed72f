"""Why a call was refused."""

from __future__ import annotations

from lvslab.capture.packet import Icmp
from lvslab.verify.causes.cause import Cause, facts_of
from lvslab.verify.causes.requests import nobody_to_take_it
from lvslab.verify.causes.servers import silent_server
from lvslab.verify.evidence import Evidence
from lvslab.verify.served import Served
from lvslab.walk.model import Walk

TIME_EXCEEDED = {4: 11, 6: 3}
"""ICMP's type by IP version (RFC 792, RFC 4443)."""


def refused_by(evidence: Evidence, served: Served, refusal: Walk) -> Cause:
    """A node answered a call with a reset or an ICMP error."""
    service, node, said = served.service, refusal.origin.node, refusal.origin.packet.transport
    if isinstance(said, Icmp) and said.type == TIME_EXCEEDED[service.vip.version]:
        return Cause(
            f"the TTL ran out at {node}: it was too small to begin with, or the packet went round in a circle",
            f"on {served.client}: sysctl net.ipv4.ip_default_ttl; lvslab walk shows the way",
        )
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
