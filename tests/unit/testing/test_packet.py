"""Each assertion about a packet's way holds of one capture and fails of another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lvslab.capture.frame import Capture
from lvslab.errors import BadInput
from lvslab.testing.call import CallUnderTest
from lvslab.testing.packet import PacketWay
from lvslab.topology.model import Protocol
from lvslab.traffic.outcome import Outcome
from lvslab.walk import find_walks
from lvslab.walk.model import Names
from lvslab.walk.select import connections
from tests.unit.walk import build

NODES = ("client", "router", "director", "rs1", "rs2")
ANSWERED = Outcome(build.CLIENT, build.CLIENT_PORT, "192.0.2.100", 80, "ok", 0.01, build.ANSWER, protocol=Protocol.TCP)


def call_of(capture: Capture, outcome: Outcome | None = None) -> CallUnderTest:
    walks = find_walks(capture)
    return CallUnderTest(walks, connections(walks)[0], NODES, "client → http://vip/", outcome)


NAT, DR, TUN = call_of(build.nat()), call_of(build.dr()), call_of(build.tun())
NOTHING = CallUnderTest(find_walks(Capture(())), None, NODES, "client → http://vip/")

Assertion = Callable[[PacketWay], object]

HOLDS: list[tuple[PacketWay, Assertion]] = [
    (DR, lambda way: way.passes("client", "director", "rs1")),
    (DR, lambda way: way.passes("director").changes(only=["destination MAC", "TTL"])),
    (DR, lambda way: way.passes("director").changes(only=["destination MAC", "source MAC", "TTL"])),
    (DR, lambda way: way.passes("director").keeps("source", "destination", "payload")),
    (DR, lambda way: way.reaches("rs1").avoids("rs2")),
    (DR.reply, lambda way: way.avoids("director").reaches("client")),
    (NAT, lambda way: way.changes("destination").keeps("source")),
    (NAT.reply, lambda way: way.passes("director").changes("source", "TTL")),
    (TUN, lambda way: way.passes("director").changes("outer header").keeps("destination")),
]
FAILS: list[tuple[PacketWay, Assertion, str]] = [
    (DR, lambda way: way.passes("rs2"), "does not pass rs2: client → router → director → rs1"),
    (DR, lambda way: way.passes("rs1", "director"), "does not pass director after rs1"),
    (DR, lambda way: way.passes("director").changes(only=["TTL"]), "also changes destination MAC"),
    (DR, lambda way: way.passes("director").changes("destination"), "does not change destination, but destination MAC"),
    (DR, lambda way: way.passes("director").changes(only=["TTL", "destination"]), "does not change destination, but"),
    (DR, lambda way: way.reaches("rs2"), "does not reach rs2: client → router → director → rs1"),
    (DR, lambda way: way.avoids("director"), "passes director: client"),
    (DR.reply, lambda way: way.passes("director"), "the reply to .* does not pass director: rs1 → router → client"),
    (NAT, lambda way: way.keeps("destination"), r"changes destination \("),
    (TUN, lambda way: way.passes("director").keeps("outer header"), r"changes outer header \(none → ipip"),
    (NOTHING, lambda way: way.passes("director"), "no packet of the request of client → http://vip/ was seen"),
    (NOTHING, lambda way: way.avoids("director"), "no packet of"),
    (NOTHING, lambda way: way.changes(only=[]), "no packet of"),
    (NOTHING, lambda way: way.keeps("TTL"), "no packet of"),
    (NOTHING.reply, lambda way: way.reaches("client"), "no packet of the reply to"),
]


@pytest.mark.parametrize(("way", "assertion"), HOLDS)
def test_what_holds(way: PacketWay, assertion: Assertion) -> None:
    assertion(way)


@pytest.mark.parametrize(("way", "assertion", "said"), FAILS)
def test_what_does_not_hold(way: PacketWay, assertion: Assertion, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        assertion(way)


@pytest.mark.parametrize(
    ("assertion", "said"),
    [
        (lambda way: way.passes("directer"), "did you mean 'director'"),
        (lambda way: way.avoids("rs9"), "no node 'rs9'"),
        (lambda way: way.changes("ttl"), "no field 'ttl'"),
        (lambda way: way.keeps("payloads"), "did you mean 'payload'"),
        (lambda way: way.passes(5), "no node 5"),
        (lambda way: way.changes(5), "no field 5"),
        (lambda way: way.changes(only="ttl"), "no field 'ttl'"),
    ],
)
def test_a_misspelt_name_is_no_finding(assertion: Assertion, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        assertion(DR)


@pytest.mark.parametrize("assertion", ["passes", "avoids", "changes", "keeps"])
@pytest.mark.parametrize("way", [DR, NOTHING])
def test_an_assertion_of_nothing_is_refused(way: PacketWay, assertion: str) -> None:
    with pytest.raises(BadInput, match=rf"\.{assertion}\(\): asserts nothing: expected a "):
        getattr(way, assertion)()


def test_a_single_field_will_do_for_a_list() -> None:
    with pytest.raises(AssertionError, match="also changes"):
        DR.passes("director").changes(only="TTL")


def test_passing_a_node_does_not_bind_what_is_asserted_elsewhere() -> None:
    DR.passes("router")
    assert DR.changes("TTL").nodes == ("client", "router", "director", "rs1")


def test_an_answer_and_who_gave_it() -> None:
    assert call_of(build.dr(), ANSWERED).answered(by="rs1").server == "rs1"
    with pytest.raises(AssertionError, match="was answered by rs1, not by rs2"):
        call_of(build.dr(), ANSWERED).answered(by="rs2")


def test_no_answer() -> None:
    refused = Outcome("client", 1, "192.0.2.100", 80, "ECONNREFUSED", 0.01, b"")
    with pytest.raises(AssertionError, match="got no answer: ECONNREFUSED"):
        call_of(build.dr(), refused).answered()
    with pytest.raises(AssertionError, match="not called by the lab itself"):
        call_of(build.dr()).answered()


def test_without_a_packet_there_are_no_nodes() -> None:
    assert PacketWay("the request", None, Names(), NODES).nodes == ()
