"""When the capture is not good enough to judge by: a verdict becomes an error, which is ours and not the cluster's."""

from __future__ import annotations

from dataclasses import replace

from lvslab.topology.model import VirtualService
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import count
from lvslab.verify.others import may_be_own
from lvslab.verify.result import Result, Verdict
from lvslab.verify.served import Served, vip_endpoint
from lvslab.walk.model import Endpoint, Hop, Unmatched


def after_loss(result: Result) -> Result:
    """On a lossy capture what is missing may have been there: a failure proves nothing."""
    if result.verdict is not Verdict.FAIL:
        return result
    reason = "frames were lost while recording, so what is missing may have been there"
    return replace(result, verdict=Verdict.ERROR, cause=reason, next="see capture-complete")


def unjoined(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> tuple[Unmatched, ...]:
    """Return what may belong to the service's connections and could not be joined to them."""
    ends = {vip_endpoint(service), *(Endpoint(str(item.address), item.port) for item in service.destinations)}
    known = {number for served in connections for walk in served.conversation.walks for number in walk.frames}
    return tuple(
        rest
        for rest in evidence.walks.unmatched
        if not known.isdisjoint(rest.candidates) or any(_touches(evidence, hop, ends) for hop in rest.hops)
    )


def _touches(evidence: Evidence, hop: Hop, ends: set[Endpoint]) -> bool:
    touched = hop.source in ends or hop.destination in ends
    return touched and may_be_own(evidence, {hop.source, hop.destination} - ends)


def without_walks(result: Result, rest: tuple[Unmatched, ...]) -> Result:
    """Take back a verdict that rests on walks of which pieces are missing."""
    if not rest or result.verdict not in (Verdict.PASS, Verdict.FAIL):
        return result
    frames = tuple(hop.number for unmatched in rest for hop in unmatched.hops)
    return replace(
        result,
        verdict=Verdict.ERROR,
        frames=frames,
        cause=f"{count(len(rest), 'packet')} of this service could not be joined: {rest[0].reason}",
        next="lvslab walk --unmatched shows them; if calls also timed out, the machine was too busy: try again",
    )
