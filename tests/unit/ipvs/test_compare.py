"""Differences between the intended and the actual table, as sentences."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import pytest

from lvslab.ipvs.compare import compare
from lvslab.ipvs.model import (
    AddressKey,
    Destination,
    DestinationEntry,
    Flag,
    FwmarkKey,
    IntendedService,
    Persistence,
    Service,
    ServiceEntry,
    Stats,
)
from lvslab.topology.model import Method, Protocol, Tunnel, TunnelKind

SERVICE = Service(AddressKey(Protocol.TCP, ip_address("192.0.2.100"), 80), "rr")
RS1 = Destination(ip_address("192.0.2.11"), 80, Method.DR)
RS2 = Destination(ip_address("192.0.2.12"), 80, Method.DR)
INTENDED = IntendedService(SERVICE, (RS1, RS2))


def installed(service: Service, *destinations: Destination) -> ServiceEntry:
    """Return a table entry with some traffic behind it; `destinations` in the kernel's order."""
    entries = tuple(DestinationEntry(each, 3, 2, 1, Stats(5)) for each in destinations)
    return ServiceEntry(service, Stats(9), entries)


def test_newest_first_is_agreement_whatever_the_statistics() -> None:
    assert compare([INTENDED], [installed(SERVICE, RS2, RS1)]) == []


def test_a_prefix_of_the_whole_address_is_the_same_as_none() -> None:
    persistent = replace(SERVICE, persistence=Persistence(60, 32))
    assert compare([IntendedService(persistent, ())], [installed(replace(SERVICE, persistence=Persistence(60)))]) == []


@pytest.mark.parametrize(
    ("actual", "difference"),
    [
        ([], "service TCP 192.0.2.100:80: missing"),
        (
            [installed(SERVICE, RS2, RS1), installed(replace(SERVICE, key=FwmarkKey(1)))],
            "service FWM 1 IPv4: not asked for",
        ),
        ([installed(replace(SERVICE, scheduler="wlc"), RS2, RS1)], "scheduler: expected rr, found wlc"),
        (
            [installed(replace(SERVICE, flags=frozenset({Flag.ONE_PACKET})), RS2, RS1)],
            "flags: expected none, found ops",
        ),
        (
            [installed(replace(SERVICE, persistence=Persistence(60, 24, "sip")), RS2, RS1)],
            "persistence: expected none, found 60 s by /24, engine sip",
        ),
        ([installed(SERVICE, RS1)], "destination 192.0.2.12:80: missing"),
        (
            [installed(SERVICE, replace(RS1, port=81), RS2, RS1)],
            "destination 192.0.2.11:81: not asked for",
        ),
        ([installed(SERVICE, RS1, RS2)], "expected 192.0.2.12:80, 192.0.2.11:80, found 192.0.2.11:80, 192.0.2.12:80"),
        ([installed(SERVICE, RS2, replace(RS1, method=Method.NAT))], "192.0.2.11:80: method: expected dr, found nat"),
        ([installed(SERVICE, RS2, replace(RS1, weight=0))], "192.0.2.11:80: weight: expected 1, found 0"),
        ([installed(SERVICE, RS2, replace(RS1, upper_threshold=7))], "upper threshold: expected 0, found 7"),
        ([installed(SERVICE, RS2, replace(RS1, lower_threshold=7))], "lower threshold: expected 0, found 7"),
        (
            [installed(SERVICE, RS2, replace(RS1, tunnel=Tunnel(TunnelKind.GUE, 5555)))],
            "tunnel: expected ipip port 0 nocsum, found gue port 5555 nocsum",
        ),
    ],
)
def test_each_difference_is_one_sentence(actual: list[ServiceEntry], difference: str) -> None:
    differences = compare([INTENDED], actual)
    assert len(differences) == 1
    assert difference in differences[0]
