"""Why a connection hangs on packets that are too large."""

from __future__ import annotations

from lvslab.topology.model import Filter
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import Evidence


def notice_lost(evidence: Evidence, node: str) -> Cause:
    """A sender was told, and never heard of it: the last that saw the notice drops it."""
    return Cause(
        f"{_drops(evidence, node, Filter.ICMP) or f'something at {node} drops ICMP errors'}: a black hole for path MTU "
        "discovery",
        f"on {node}: iptables-legacy -S, and let ICMP type 3 code 4 pass; or lower the MSS of connections (clamp_mss)",
    )


def pieces_lost(evidence: Evidence, node: str) -> Cause:
    """Some pieces of a packet were seen last at a node, others went on."""
    return Cause(
        f"{_drops(evidence, node, Filter.FRAGMENTS) or f'something at {node} drops fragments'}: without "
        "the first one's ports a firewall may not know them",
        f"on {node}: iptables-legacy -S; or send nothing in pieces (net.ipv4.vs.pmtu_disc=1, clamp_mss)",
    )


def _drops(evidence: Evidence, node: str, what: Filter) -> str:
    dropping = next((each for each in evidence.topology.nodes if each.name == node and what in each.drop), None)
    word = "ICMP" if what is Filter.ICMP else "fragments"
    return f"{node} drops {word}" if dropping else ""
