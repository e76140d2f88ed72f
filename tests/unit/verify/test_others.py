"""Others use the lab while it is judged: their packets are in the capture, and no verdict is about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP

from lvslab.ipvs.model import Stats
from lvslab.traffic.outcome import Outcome
from lvslab.verify.evidence import Evidence
from lvslab.verify.result import Result, Verdict
from lvslab.walk import find_walks
from lvslab.walk.model import Unmatched
from tests.unit.verify import scenes
from tests.unit.verify.scenes import (
    DR,
    counters,
    dr_reply_from,
    dr_request_to,
    dr_scene,
    evidence,
    judged,
    table,
    topology,
)
from tests.unit.walk import build
from tests.unit.walk.build import CLIENT_PORT, Scene

VIP = build.DR_VIP
MODEL = topology(DR, servers=2)


def silence(scene: Scene, packet: Any) -> None:
    """No reply at all."""


def calls(**servers: str) -> tuple[Outcome, ...]:
    """Return the outcomes of the drive's own calls: `port0="rs1"` is the one from the first port."""
    return tuple(
        replace(outcome, client_port=CLIENT_PORT + int(name.removeprefix("port")))
        for name, server in servers.items()
        for outcome in scenes.answered(server, vip=VIP)
    )


def results(scene: Scene, outcomes: tuple[Outcome, ...], **more: Any) -> dict[str, Result]:
    return judged(evidence(MODEL, scene, outcomes=outcomes, used=True, **more))


def between(*servers: str) -> Scene:
    return dr_scene(*[(dr_request_to(server), dr_reply_from(server)) for server in servers])


def test_connections_of_others_are_scheduled_too() -> None:
    found = results(between("rs2", "rs1", "rs2"), calls(port0="rs2", port2="rs2"))
    assert found["scheduler"].verdict is Verdict.PASS
    assert found["scheduler"].seen.startswith("with 1 connection of others: rs2, rs1, rs2")
    assert found["answered"].seen == "2 calls, all answered"


@pytest.mark.parametrize(
    ("own", "verdict"),
    [({"port0": "rs2", "port1": "rs2"}, "error"), ({"port0": "rs2", "port1": "rs2", "port2": "rs2"}, "fail")],
)
def test_a_wrong_order_proves_nothing_when_others_sent_something(own: dict[str, str], verdict: str) -> None:
    found = results(between("rs2", "rs2", "rs2"), calls(**own))["scheduler"]
    assert found.verdict == verdict
    assert found.cause.startswith("1 connection of others passed director meanwhile") or verdict == "fail"


def test_a_connection_that_began_before_was_chosen_for_before() -> None:
    scene = between("rs2")
    middle = IP(src=build.CLIENT, dst=VIP[0]) / TCP(sport=CLIENT_PORT + 7, dport=VIP[1], flags="A", seq=5, ack=9)
    dr_request_to("rs2")(scene, IP(bytes(middle)))
    build.connection(scene, dr_request_to("rs1"), dr_reply_from("rs1"), VIP, CLIENT_PORT + 1)
    found = results(scene, calls(port0="rs2", port1="rs1"))
    assert (found["scheduler"].verdict, found["answered"].verdict) == (Verdict.PASS, Verdict.PASS)


def test_what_happens_to_others_is_no_failure_of_ours() -> None:
    scene = dr_scene((dr_request_to("rs2"), dr_reply_from("rs2")), (dr_request_to("rs1", tos=4), silence))
    own = results(scene, calls(port0="rs2"))
    assert {own[name].verdict for name in ("dr-request", "direct-reply", "answered")} == {Verdict.PASS}
    both = results(scene, calls(port0="rs2") + scenes.failed("ETIMEDOUT", CLIENT_PORT + 1, vip=VIP))
    assert {both[name].verdict for name in ("dr-request", "answered")} == {Verdict.FAIL}


@pytest.mark.parametrize(
    ("others", "packets", "verdict"),
    [(True, 0, "pass"), (True, 90, "pass"), (True, -4, "fail"), (False, 0, "pass"), (False, 1, "fail")],
)
def test_the_director_counted_at_least_our_own(others: bool, packets: int, verdict: str) -> None:
    """`packets`: how many more were counted than captured of the drive and, if there were any, of others."""
    scene = between("rs2", "rs1")
    totals = counters(scene.capture(), VIP[0], connections=2)
    counted = replace(totals, packets_in=totals.packets_in + packets)
    if others and packets < 0:
        counted = replace(counted, packets_in=counted.packets_in // 2 + packets)
    own = calls(port0="rs2") if others else calls(port0="rs2", port1="rs1")
    tables = table(MODEL, counted, 1, 1, earlier=Stats())
    found = results(scene, own, tables=tables)["statistics"]
    assert found.verdict == verdict
    assert ("of others" in found.seen) == (others and verdict == "pass")


def stray(found: Evidence, port: int) -> Evidence:
    """Return the evidence as if it were not known where one packet of this client's port came from."""
    walk = next(
        walk for walk in find_walks(found.capture).walks if walk.origin.source and walk.origin.source.port == port
    )
    unmatched = Unmatched((walk.hops[1],), "could continue more than one packet")
    return replace(found, walks=replace(found.walks, unmatched=(unmatched,)))


@pytest.mark.parametrize(("port", "verdict"), [(CLIENT_PORT, "error"), (CLIENT_PORT + 1, "pass")])
def test_what_could_not_be_joined_spoils_only_its_own_side(port: int, verdict: str) -> None:
    found = evidence(MODEL, between("rs2", "rs1"), outcomes=calls(port0="rs2"), used=True)
    assert judged(stray(found, port))["dr-request"].verdict == verdict
