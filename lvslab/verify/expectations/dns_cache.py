"""RR-DNS with a caching resolver: inside one TTL all its clients are sent to one and the same server.

That is no fault of the cluster but of the technique, and it is shown and measured, not hidden: the resolver
repeats one order, and undoes the rotation (the LVS papers' first objection). The question that filled the
cache does not count: dnsmasq hands a long answer that came over TCP on as it is, and keeps it in another order.
Where the lab was used before, the cache may have been filled already, and nothing need be passed on.
"""

from __future__ import annotations

from collections.abc import Sequence

from lvslab.topology.model import NameService
from lvslab.verify.causes import names as causes
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.names import Asked, own_questions, questions
from lvslab.verify.result import Result

NAME = "dns-cache"
NANOSECONDS = 1_000_000_000


def judge(evidence: Evidence, service: NameService) -> Result:
    statement = Statement(NAME, f"inside one TTL ({service.ttl_s} s) all clients of the resolver get one server")
    resolver = service.resolver
    if resolver is None:
        return statement.skipped("there is no resolver")
    cached = own_questions(evidence, service, resolver)
    upstream = [item for item in questions(evidence, service, service.server) if item.node == resolver]
    fault = _unanswered(statement, evidence, service, resolver, (cached, upstream))
    if fault is not None:
        return fault
    filled_ns = upstream[0].time_ns if upstream else 0
    kept = [item for item in cached if item.time_ns > filled_ns]
    if len(kept) < 2:
        return statement.skipped("it takes two questions to a filled cache to see what it keeps")
    span_s = (cached[-1].time_ns - cached[0].time_ns) / NANOSECONDS
    if span_s >= service.ttl_s:
        return statement.skipped(f"the questions were {span_s:.0f} s apart, longer than the TTL")
    firsts = {item.answer.addresses[0] for item in kept if item.answer}
    frames = [frame for item in cached for frame in item.frames]
    passed_on = f"{len(upstream)} passed on to {service.server}"
    if len(firsts) > 1 or len(upstream) >= len(cached):
        return statement.failed(
            f"{count(len(cached), 'question')} within {span_s:.1f} s, {passed_on}: "
            f"{count(len(firsts), 'first address', 'different first addresses')}",
            where=resolver,
            frames=frames,
            cause=Cause("the resolver does not cache, or rotates what it has cached", "look at the TTL of its answers"),
        )
    server = {str(address): name for name, address in service.records}.get(firsts.pop(), "nobody")
    clients = count(len({item.node for item in cached}), "client")
    asked = f"{count(len(cached), 'question')} of {clients} in {span_s:.1f} s, {passed_on}"
    return statement.passed(f"{asked}: all {len(kept)} answers from the cache gave {server}", frames, resolver)


def _unanswered(
    statement: Statement,
    evidence: Evidence,
    service: NameService,
    resolver: str,
    asked: tuple[Sequence[Asked], Sequence[Asked]],
) -> Result | None:
    cached, upstream = asked
    filled_before = not evidence.begins_afresh and all(item.answer is not None for item in cached)
    if cached and not upstream and not filled_before:
        return statement.failed(
            f"{resolver} was asked {count(len(cached), 'time')} and asked {service.server} nothing",
            where=resolver,
            frames=[item.frames[0] for item in cached],
            cause=causes.nothing_passed_on(evidence, service, resolver),
        )
    lost = next((item for item in upstream if item.answer is None), None)
    if lost is not None:
        return statement.failed(
            f"{resolver} asked {service.server} and got no answer; the question was last seen at {lost.end.where}",
            where=lost.end.where,
            frames=lost.frames,
            cause=causes.unanswered(evidence, lost, service.server, service.name),
        )
    lost = next((item for item in cached if item.answer is None), None)
    if lost is not None:
        return statement.failed(
            f"{lost.node} asked {resolver} and got no answer; the question was last seen at {lost.end.where}",
            where=lost.end.where,
            frames=lost.frames,
            cause=causes.unanswered(evidence, lost, resolver, service.name),
        )
    return None
