"""Which server each connection got is what the scheduler's reference model says, connection by connection."""

from __future__ import annotations

from lvslab.ipvs.schedulers import MODELS, Flow, Scheduler, Server, scheduler
from lvslab.topology.model import VirtualService
from lvslab.verify.causes import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement
from lvslab.verify.result import Result
from lvslab.verify.served import Served

NAME = "scheduler"
SHOWN = 12


def judge(_evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    statement = Statement(NAME, f"{service.scheduler} gives each connection the server its model predicts")
    reason = _unpredictable(service)
    if reason:
        return statement.skipped(reason)
    scheduled = [served for served in connections if served.through_director()]
    if not scheduled:
        return statement.skipped(f"no connection passed {service.director}")
    got = [served.destination.node if served.destination else "none" for served in scheduled]
    model = _model(service)
    predicted = [_pick(model, served) for served in scheduled]
    for number, (want, have) in enumerate(zip(predicted, got, strict=True)):
        if have not in (want, "none"):
            served = scheduled[number]
            return statement.failed(
                f"connection {number + 1} ({served.conversation.initiator}) went to {have}, not to {want}: "
                f"{_sequence(got)} instead of {_sequence(predicted)}",
                where=service.director,
                frames=[served.opening.origin.number],
                cause=Cause(
                    "the table was changed, or connections were there already",
                    f"ipvsadm -Ln --nosort on {service.director}",
                ),
            )
    return statement.passed(_sequence(got), [served.opening.origin.number for served in scheduled], service.director)


def _unpredictable(service: VirtualService) -> str:
    if service.scheduler not in MODELS["kernel"]:
        return f"there is no reference model of {service.scheduler} yet"
    if service.persistence_s is not None:
        return "a persistent service schedules clients, not connections"
    return ""


def _model(service: VirtualService) -> Scheduler:
    return scheduler(service.scheduler, [Server(item.node, item.weight) for item in service.destinations])


def _pick(model: Scheduler, served: Served) -> str:
    initiator = served.conversation.initiator
    if initiator is None:
        raise ValueError("a connection to a service has an initiator")
    flow = Flow(served.service.vip.__class__(initiator.address), initiator.port or 0, served.service.vip)
    chosen = model.pick(flow)
    return chosen.name if chosen else "none"


def _sequence(names: list[str]) -> str:
    more = f" … ({len(names)} in all)" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
