"""What changed at a hop, field by field and in words."""

from __future__ import annotations

from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from lvslab.capture.dissect import dissect
from lvslab.capture.frame import Direction
from lvslab.walk import find_walks
from lvslab.walk.changes import changes_between, describe
from lvslab.walk.model import Hop, Names, Step
from tests.unit.capture.frames import frame
from tests.unit.walk import build
from tests.unit.walk.build import changed, udp

NAMES = Names(macs={build.mac(f"{node}:eth0"): node for node in ("client", "router", "director", "rs1")})


def sentences_of(capture: Any) -> list[str]:
    """Return the sentences of the first TCP walk."""
    found = find_walks(capture)
    walk = next(c for c in found.conversations if c.protocol == "tcp").requests[0]
    pairs = [(walk.before(hop), hop) for hop in walk.hops]
    return [describe(before, hop, found.names) for before, hop in pairs if before and hop.step is not Step.CROSSED]


def test_nat_in_words() -> None:
    assert sentences_of(build.nat()) == [
        "director: destination MAC rewritten to rs1; TTL 64 → 63; "
        "destination address and port rewritten 198.51.100.100:80 → 192.0.2.11:8080; payload unchanged"
    ]


def test_dr_in_words() -> None:
    assert sentences_of(build.dr()) == [
        "router: destination MAC rewritten to director; TTL 64 → 63; IP addresses, ports and payload unchanged",
        "director: destination MAC rewritten to rs1; TTL 63 → 62; IP addresses, ports and payload unchanged",
    ]


def test_tun_in_words() -> None:
    assert sentences_of(build.tun()) == [
        "router: destination MAC rewritten to director; TTL 64 → 63; IP addresses, ports and payload unchanged",
        "director: destination MAC rewritten to router; outer header added (ipip 203.0.113.2 → 198.18.0.11); "
        "inner TTL 63 → 62; IP addresses, ports and payload unchanged",
        "router: destination MAC rewritten to rs1; outer TTL 62 → 61; inner packet unchanged",
        "rs1: passed to tunl0; outer header removed (ipip 203.0.113.2 → 198.18.0.11); inner packet unchanged",
    ]


def hop(node: str, packet: Any, number: int = 1) -> Hop:
    seen = frame(packet, node=node, number=number, direction=Direction.OUT)
    return Hop(seen, dissect(seen), Step.FORWARDED, None)


ETHER = Ether(src=build.mac("client:eth0"), dst=build.mac("director:eth0"))
BEFORE = udp(("198.51.100.10", 4000), ("192.0.2.100", 53), b"q")
CHANGES = [
    ("destination address", changed(BEFORE, ttl=0, dst="192.0.2.11"), "destination", "192.0.2.100:53", "192.0.2.11:53"),
    ("destination port", changed(BEFORE, ttl=0, dport=80), "destination", "192.0.2.100:53", "192.0.2.100:80"),
    ("source address", changed(BEFORE, ttl=0, src="192.0.2.2"), "source", "198.51.100.10:4000", "192.0.2.2:4000"),
    ("TTL", changed(BEFORE, ttl=-2), "TTL", "64", "62"),
    ("TOS", changed(BEFORE, ttl=0, tos=3), "TOS", "0x00", "0x03"),
]


@pytest.mark.parametrize(("phrase", "after", "field", "old", "new"), CHANGES)
def test_each_changed_field_is_reported_with_both_values(
    phrase: str, after: Any, field: str, old: str, new: str
) -> None:
    (change,) = changes_between(hop("client", ETHER / BEFORE), hop("director", ETHER / after), NAMES)
    assert (change.field, change.old, change.new) == (field, old, new)
    assert change.sentence.startswith(phrase)
    assert f"{old} → {new}" in change.sentence


def test_nothing_is_reported_when_nothing_changed() -> None:
    assert changes_between(hop("client", ETHER / BEFORE), hop("director", ETHER / BEFORE), NAMES) == ()


def test_a_source_mac_that_is_not_the_nodes_own_is_said() -> None:
    foreign = Ether(src=build.mac("rs1:eth0"), dst=ETHER.dst)
    (change,) = changes_between(hop("client", ETHER / BEFORE), hop("director", foreign / BEFORE), NAMES)
    assert change.sentence == "source MAC rewritten to rs1"
    own = Ether(src=build.mac("director:eth0"), dst=ETHER.dst)
    (change,) = changes_between(hop("client", ETHER / BEFORE), hop("director", own / BEFORE), NAMES)
    assert (change.field, change.sentence) == ("source MAC", "")


def test_a_checksum_that_broke_on_the_way_is_said() -> None:
    broken = bytearray(bytes(ETHER / BEFORE))
    broken[14 + 20 + 6] ^= 1
    (change,) = changes_between(hop("client", ETHER / BEFORE), hop("director", bytes(broken)), NAMES)
    assert change.sentence == "wrong checksum: udp"


def test_clamped_mss_is_said() -> None:
    plain = IP() / TCP(flags="S", options=[("MSS", 1460)])
    clamped = IP() / TCP(flags="S", options=[("MSS", 1440)])
    (change,) = changes_between(hop("client", ETHER / plain), hop("director", ETHER / clamped), NAMES)
    assert change.sentence == "TCP options rewritten"
