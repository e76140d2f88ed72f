"""LocalNode: the director is one of the servers; its own share stays with it, and it answers as the VIP."""

from __future__ import annotations

from lvslab.topology.model import VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.causes.servers import silent_server
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.passage import passages_at
from lvslab.verify.result import Result
from lvslab.verify.served import Served, reached, vip_endpoint

NAME = "local-delivery"


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    director, vip = service.director, vip_endpoint(service)
    statement = Statement(NAME, f"{director} answers its own share as {vip}, and sends nothing of it on")
    kept = [served for served in connections if served.kept]
    if not kept:
        return statement.skipped(f"{director} chose itself for no connection")
    for served in kept:
        fault = _sent_on(statement, evidence, served) or _wrong_answer(statement, evidence, served)
        if fault is not None:
            return fault
    frames = [number for walk in kept[0].requests[:1] + kept[0].replies[:1] for number in walk.frames]
    return statement.passed(f"{count(len(kept), 'connection')} of {len(connections)} kept", frames, director)


def _sent_on(statement: Statement, evidence: Evidence, served: Served) -> Result | None:
    director = served.service.director
    passages = [passage for walk in served.requests for passage in passages_at(walk, director, evidence.walks.names)]
    if not passages:
        return None
    return statement.failed(
        f"{served.label}: began at {director}, and was sent on later",
        where=passages[0].exit.where,
        frames=passages[0].frames,
        cause=Cause("the entry of the connection was lost", f"on {director}: ipvsadm -Lnc"),
    )


def _wrong_answer(statement: Statement, evidence: Evidence, served: Served) -> Result | None:
    director, end = served.service.director, served.requests[-1].hops[-1]
    if not served.replies:
        return statement.failed(
            f"{served.label}: {director} kept it and never answered",
            where=end.where,
            frames=[end.number],
            cause=silent_server(evidence, served.service, director),
        )
    for walk in served.replies:
        origin = walk.origin
        if origin.node != director or origin.source != vip_endpoint(served.service):
            seen = f"{served.label}: {origin.node} answered as {origin.source}"
        elif not served.answered and not reached(walk, served.client):
            seen = f"{served.label}: the answer did not come to {served.client}"
        else:
            continue
        return statement.failed(
            seen,
            where=walk.hops[-1].where,
            frames=walk.frames,
            cause=Cause(f"{director} does not deliver to itself", f"on {director}: ipvsadm -Ln, ip route"),
        )
    return None
