"""Which expectations apply to a topology, and judging them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lvslab.topology.model import Application, Method, NameService, Topology, VirtualService
from lvslab.verify import doubt
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations import (
    answered,
    arp_owner,
    association,
    capture_complete,
    checksums,
    datagrams,
    direct_reply,
    director_client,
    dns_cache,
    dns_direct,
    dns_rotation,
    dr_request,
    ftp,
    local_delivery,
    nat_reply,
    nat_request,
    path_mtu,
    persistence,
    scheduled,
    statistics,
    tun_decapsulated,
    tun_request,
)
from lvslab.verify.expectations.base import ServiceExpectation
from lvslab.verify.others import own_connections
from lvslab.verify.result import Result, Verdict
from lvslab.verify.served import Served, served_connections, vip_endpoint

OF_METHOD: dict[Method, tuple[ServiceExpectation, ...]] = {
    Method.NAT: (nat_request.judge, nat_reply.judge),
    Method.TUN: (tun_request.judge, tun_decapsulated.judge, direct_reply.judge),
    Method.DR: (dr_request.judge, direct_reply.judge),
    Method.LOCAL: (),
}
OF_CONNECTIONS: dict[str, ServiceExpectation] = {
    "answers": answered.judge,
    "scheduler": scheduled.judge,
    "statistics": statistics.judge,
}
OF_KIND: tuple[tuple[Callable[[VirtualService], bool], ServiceExpectation], ...] = (
    (persistence.applies, persistence.judge),
    (datagrams.applies, datagrams.judge),
)
"""Expectations of some kinds of service only; they say where connections go, as the scheduler's does."""
OF_NAME: tuple[Callable[[Evidence, NameService], Result], ...] = (
    dns_rotation.judge,
    dns_direct.judge,
    dns_cache.judge,
)


def judge(evidence: Evidence) -> tuple[Result, ...]:
    """Return one result per expectation that applies; what the capture is not good enough for is an error."""
    results = tuple(_results(evidence))
    return tuple(map(doubt.after_loss, results)) if evidence.capture.lost else results


def _results(evidence: Evidence) -> Iterator[Result]:
    topology = evidence.topology
    for service in topology.services:
        for result in _service_results(evidence, service):
            yield _named(result, topology, service)
    if _wanted(topology, "dns"):
        for name_service in topology.name_services:
            for expectation in OF_NAME:
                yield _of_name(expectation(evidence, name_service), topology, name_service)
    if _wanted(topology, "checksums"):
        yield checksums.judge(evidence)
    yield capture_complete.judge(evidence)


def _service_results(evidence: Evidence, service: VirtualService) -> Iterator[Result]:
    connections = served_connections(evidence, service)
    if _wanted(evidence.topology, "arp"):
        yield arp_owner.judge(evidence, service, connections)
    if service.application is Application.FTP:
        if _wanted(evidence.topology, "method"):
            yield ftp.judge(evidence, service)
        return
    own = own_connections(evidence, connections)
    rest = doubt.unjoined(evidence, service, own)
    results = [doubt.without_walks(result, rest) for result in _of_connections(evidence, service, own)]
    yield from _with_consequences(results)


def _of_connections(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Iterator[Result]:
    """Yield what rests on the walks of the service's connections."""
    if _wanted(evidence.topology, "method"):
        if association.applies(service):
            yield association.judge(evidence, service, connections)
        for expectation in _of_method(evidence.topology, service):
            yield expectation(evidence, service, connections)
    if _wanted(evidence.topology, "mtu") and path_mtu.applies(evidence.topology):
        yield path_mtu.judge(evidence, service, connections)
    for group, expectation in OF_CONNECTIONS.items():
        if _wanted(evidence.topology, group):
            yield expectation(evidence, service, connections)
    if _wanted(evidence.topology, "scheduler"):
        for applies, expectation in OF_KIND:
            if applies(service):
                yield expectation(evidence, service, connections)


def _of_method(topology: Topology, service: VirtualService) -> Iterator[ServiceExpectation]:
    if topology.traffic.client == service.director:
        yield director_client.judge
        return
    yield from OF_METHOD[service.method]
    if any(destination.method is Method.LOCAL for destination in service.destinations):
        yield local_delivery.judge


def _with_consequences(results: list[Result]) -> Iterator[Result]:
    """Say of a failure that has no cause of its own which one it follows from."""
    first = next((result for result in results if result.verdict is Verdict.FAIL and result.cause), None)
    for result in results:
        if first is not None and result.verdict is Verdict.FAIL and not result.cause:
            yield replace(result, cause=f"follows from the failure of {first.name}", next=f"cure {first.name} first")
        else:
            yield result


def _wanted(topology: Topology, group: str) -> bool:
    return not topology.expect or group in topology.expect


def _named(result: Result, topology: Topology, service: VirtualService) -> Result:
    """Tell services apart where there are several."""
    if len(topology.services) == 1:
        return result
    return replace(result, name=f"{result.name} {service.protocol.value}/{vip_endpoint(service)}")


def _of_name(result: Result, topology: Topology, service: NameService) -> Result:
    return result if len(topology.name_services) == 1 else replace(result, name=f"{result.name} {service.name}")
