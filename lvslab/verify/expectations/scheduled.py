"""Which server each connection got is what the scheduler's reference model says, connection by connection.

What counts is whom the director sent it to, whether or not it arrived; a connection that the director refused
went to nobody. Where the director sent nothing on for another reason, its choice cannot be seen.
"""

from __future__ import annotations

from lvslab.ipvs.schedulers import MODELS, Flow, Scheduler, Server, scheduler
from lvslab.topology.model import VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served

NAME = "scheduler"
REFUSED = "refused"
SHOWN = 12


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    director = service.director
    statement = Statement(NAME, f"{service.scheduler} gives each connection the server its model predicts")
    reason = _unpredictable(evidence, service)
    if reason:
        return statement.skipped(reason)
    scheduled = [served for served in connections if served.through_director]
    if not scheduled:
        return statement.skipped(f"no connection passed {director}")
    swallowed = sum(served.swallowed for served in scheduled)
    if swallowed:
        return statement.skipped(f"{director} sent nothing on for {count(swallowed, 'connection')}: no choice is seen")
    got = [served.chosen.node if served.chosen else REFUSED for served in scheduled]
    model = _model(service)
    predicted = [_pick(model, served) for served in scheduled]
    wrong = next((number for number, (want, have) in enumerate(zip(predicted, got, strict=True)) if want != have), None)
    if wrong is None:
        seen = _sequence(got)
        if len(scheduled) < len(connections):
            seen = f"{len(scheduled)} of {count(len(connections), 'connection')} passed {director}: {seen}"
        return statement.passed(seen, [served.opening.origin.number for served in scheduled], director)
    served = scheduled[wrong]
    return statement.failed(
        f"{served.label}, number {wrong + 1}, went to {got[wrong]}, not to {predicted[wrong]}: "
        f"{_sequence(got)} instead of {_sequence(predicted)}",
        where=director,
        frames=[served.opening.origin.number],
        cause=Cause("the table was changed, or there were connections before", f"on {director}: ipvsadm -Ln --nosort"),
    )


def _unpredictable(evidence: Evidence, service: VirtualService) -> str:
    if service.scheduler not in MODELS["kernel"]:
        return f"there is no reference model of {service.scheduler} yet"
    if service.persistence_s is not None:
        return "a persistent service schedules clients, not connections"
    if any(destination.upper_threshold for destination in service.destinations):
        return "thresholds make the choice depend on when each connection ends"
    table = (evidence.tables or {}).get(service.director)
    if table is not None and not table.fresh:
        return f"{service.director} had scheduled connections before: where in its cycle it began is not known"
    return ""


def _model(service: VirtualService) -> Scheduler:
    return scheduler(service.scheduler, [Server(item.node, item.weight) for item in service.destinations])


def _pick(model: Scheduler, served: Served) -> str:
    initiator = served.conversation.initiator
    if initiator is None:
        raise ValueError("a connection to a service has an initiator")
    flow = Flow(served.service.vip.__class__(initiator.address), initiator.port or 0, served.service.vip)
    chosen = model.pick(flow)
    return chosen.name if chosen else REFUSED


def _sequence(names: list[str]) -> str:
    more = f" … ({len(names)} in all)" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
