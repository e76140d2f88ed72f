"""What is sent and judged: traffic within bounds, expectations that exist."""

from __future__ import annotations

from collections.abc import Iterator

from lvslab.topology import limits
from lvslab.topology.faults import Fault
from lvslab.topology.model import Method, Topology
from lvslab.topology.wording import did_you_mean, one_of


def check_drive(topology: Topology) -> Iterator[Fault]:
    for index, group in enumerate(topology.expect):
        if group not in limits.EXPECTATION_GROUPS:
            yield Fault(
                ("expect", index),
                "unknown group of expectations",
                one_of(limits.EXPECTATION_GROUPS),
                repr(group),
                did_you_mean(group, limits.EXPECTATION_GROUPS),
            )
    client, names = topology.traffic.client, [node.name for node in topology.nodes]
    if client is not None and client not in names:
        yield Fault(("traffic", "client"), "unknown node", one_of(names), repr(client), did_you_mean(client, names))
    yield from _check_caller(topology)
    for key, number, allowed in (
        ("connections", topology.traffic.connections, limits.CONNECTIONS),
        ("answer_bytes", topology.traffic.answer_bytes, limits.ANSWER_BYTES),
        ("request_bytes", topology.traffic.request_bytes, limits.REQUEST_BYTES),
    ):
        if number is not None and number not in allowed:
            yield Fault(("traffic", key), "number out of range", str(allowed), str(number))


def _check_caller(topology: Topology) -> Iterator[Fault]:
    client = topology.traffic.client
    for service in topology.services:
        holders = {one.node for one in service.destinations if one.method in (Method.DR, Method.TUN)}
        if client in holders:
            yield Fault(
                ("traffic", "client"),
                "this server holds the VIP, and would answer itself",
                expected="a node that does not serve",
                found=repr(client),
            )
