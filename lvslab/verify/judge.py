"""Which expectations apply to a topology, and judging them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lvslab.topology.model import Method, NameService, Topology, VirtualService
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations import (
    answered,
    arp_owner,
    capture_complete,
    checksums,
    direct_reply,
    dr_request,
    nat_reply,
    nat_request,
    round_robin_name,
    scheduled,
    statistics,
    tun_decapsulated,
    tun_request,
)
from lvslab.verify.expectations.base import ServiceExpectation
from lvslab.verify.result import Result, Verdict
from lvslab.verify.served import served_connections

OF_METHOD: dict[Method, tuple[ServiceExpectation, ...]] = {
    Method.NAT: (nat_request.judge, nat_reply.judge),
    Method.TUN: (tun_request.judge, tun_decapsulated.judge, direct_reply.judge),
    Method.DR: (dr_request.judge, direct_reply.judge),
    Method.LOCAL: (),
}
OF_SERVICE: dict[str, tuple[ServiceExpectation, ...]] = {
    "arp": (arp_owner.judge,),
    "answers": (answered.judge,),
    "scheduler": (scheduled.judge,),
    "statistics": (statistics.judge,),
}
OF_NAME: tuple[Callable[[Evidence, NameService], Result], ...] = (
    round_robin_name.judge_rotation,
    round_robin_name.judge_direct_connection,
    round_robin_name.judge_cached_window,
)


def judge(evidence: Evidence) -> tuple[Result, ...]:
    """Return one result per expectation that applies. On a lossy capture a failure is an error, not a failure."""
    results = tuple(_results(evidence))
    if not evidence.capture.lost:
        return results
    return tuple(_doubtful(result) if result.verdict is Verdict.FAIL else result for result in results)


def _results(evidence: Evidence) -> Iterator[Result]:
    topology = evidence.topology
    for service in topology.services:
        for result in _service_results(evidence, service):
            yield _named(result, topology, service)
    if _wanted(topology, "dns"):
        for name_service in topology.name_services:
            for expectation in OF_NAME:
                yield expectation(evidence, name_service)
    if _wanted(topology, "checksums"):
        yield checksums.judge(evidence)
    yield capture_complete.judge(evidence)


def _service_results(evidence: Evidence, service: VirtualService) -> Iterator[Result]:
    connections = served_connections(evidence, service)
    if _wanted(evidence.topology, "method"):
        for expectation in OF_METHOD[service.method]:
            yield expectation(evidence, service, connections)
    for group, expectations in OF_SERVICE.items():
        if _wanted(evidence.topology, group):
            for expectation in expectations:
                yield expectation(evidence, service, connections)


def _wanted(topology: Topology, group: str) -> bool:
    return not topology.expect or group in topology.expect


def _named(result: Result, topology: Topology, service: VirtualService) -> Result:
    """Tell services apart where there are several."""
    if len(topology.services) == 1:
        return result
    return replace(result, name=f"{result.name} {service.protocol.value}/{service.vip}:{service.port}")


def _doubtful(result: Result) -> Result:
    reason = "frames were lost while recording, so what is missing may have been there"
    return replace(result, verdict=Verdict.ERROR, cause=reason, next="see capture-complete")
