"""What a cause is, and where to look for one."""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.verify.evidence import Evidence, NodeFacts

IP_FORWARD = "net.ipv4.ip_forward"


@dataclass(frozen=True, slots=True)
class Cause:
    """What probably went wrong, and what to do next."""

    text: str
    next: str


UNKNOWN = Cause("", "")


def facts_of(evidence: Evidence, node: str) -> NodeFacts | None:
    """Return what a node says of itself, None where it was not asked."""
    return None if evidence.facts is None else evidence.facts.get(node)


def does_not_forward(evidence: Evidence, node: str) -> Cause | None:
    """Return the cause if forwarding is known to be off at a node."""
    facts = facts_of(evidence, node)
    if facts is None or facts.sysctls.get(IP_FORWARD) != "0":
        return None
    return Cause(
        f"ip_forward is 0 on {node}: it does not pass on what is not for itself",
        f"on {node}: sysctl -w {IP_FORWARD}=1",
    )
