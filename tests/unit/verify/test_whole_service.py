"""Who answered, whom the scheduler chose, what the director counted, who owns the VIP."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import pytest
from scapy.layers.l2 import ARP, Ether

from lvslab.capture.frame import Direction
from lvslab.ipvs.model import Connection, Stats
from lvslab.topology.model import Topology
from lvslab.traffic.outcome import Outcome
from lvslab.verify.evidence import DirectorTable, Evidence, NodeFacts
from lvslab.verify.result import Verdict
from tests.unit.verify import scenes
from tests.unit.verify.scenes import (
    DR,
    NAT,
    counters,
    dr_arp,
    dr_reply_from,
    dr_request_to,
    dr_scene,
    evidence,
    judged,
    table,
    topology,
)
from tests.unit.walk import build
from tests.unit.walk.build import BROADCAST, CLIENT, Scene, changed, icmp_error, mac

VIP = build.DR_VIP


def served_by(*servers: str) -> Scene:
    return dr_scene(*[(dr_request_to(server), dr_reply_from(server)) for server in servers])


def refused_by_director(scene: Scene, packet: Any) -> None:
    scene.send("client:eth0", "router:eth0", packet)
    routed = changed(packet)
    scene.send("router:eth1", "director:eth0", routed)
    error = icmp_error(VIP[0], CLIENT, 3, 3, routed)
    scene.send("director:eth0", "router:eth1", error)
    scene.send("router:eth0", "client:eth0", changed(error))


def silence(scene: Scene, packet: Any) -> None:
    """No reply at all."""


def call(answer: bytes, status: str = "ok") -> tuple[Outcome, ...]:
    return (Outcome("client", 40000, *VIP, status, 0.1, answer),)


ANSWERS: dict[str, tuple[tuple[Outcome, ...] | None, Verdict, str]] = {
    "right": (scenes.answered("rs1", vip=VIP), Verdict.PASS, "1 call, all answered"),
    "stored": (None, Verdict.PASS, "1 call, all answered"),
    "timeout": (scenes.failed("ETIMEDOUT", 40000, vip=VIP), Verdict.FAIL, "no answer in time (ETIMEDOUT)"),
    "odd-errno": (scenes.failed("EPIPE", 40000, vip=VIP), Verdict.FAIL, ": EPIPE"),
    "stranger": (call(b"HTTP/1.1 200 OK\r\n\r\nrs9\n"), Verdict.FAIL, "the answer says it is from rs9"),
    "nobody": (call(b""), Verdict.FAIL, "the answer says it is from nobody"),
    "other": (call(b"HTTP/1.1 200 OK\r\n\r\nrs2\n"), Verdict.FAIL, "from rs2, but rs1 was asked"),
    "not-captured": (scenes.answered("rs1", "rs2", vip=VIP), Verdict.ERROR, "is not in the capture"),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_what_a_call_must_bring(case: str) -> None:
    outcomes, verdict, seen = ANSWERS[case]
    result = judged(evidence(topology(DR, servers=2), served_by("rs1"), outcomes=outcomes))["answered"]
    assert result.verdict is verdict
    assert seen in result.seen


def test_a_call_to_another_service_is_not_counted() -> None:
    outcomes = (*scenes.answered("rs1", vip=VIP), *scenes.failed("ETIMEDOUT", 40000, vip=(VIP[0], 81)))
    assert judged(evidence(topology(DR), served_by("rs1"), outcomes=outcomes))["answered"].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        (None, "likely: nothing listens on tcp port 80 of rs1"),
        ({"rs1": NodeFacts(listening=frozenset({("tcp", 8080)}))}, "nothing listens on tcp port 80 of rs1"),
        ({"rs1": NodeFacts(listening=frozenset({("tcp", 80)}))}, "likely: nothing listens on tcp port 80 of rs1"),
    ],
)
def test_a_reset_names_the_server_that_does_not_listen(facts: dict[str, NodeFacts] | None, cause: str) -> None:
    def resetting(scene: Scene, packet: Any) -> None:
        reset = packet.copy()
        reset.payload.flags = "RA"
        build.dr_reply(scene, changed(reset, ttl=0))

    scene = Scene()
    opening = [True]

    def only_the_first(scene: Scene, packet: Any) -> None:
        if opening:
            opening.clear()
            build.dr_request(scene, packet)

    answer = [True]

    def once(scene: Scene, packet: Any) -> None:
        if answer:
            answer.clear()
            resetting(scene, packet)

    build.connection(scene, only_the_first, once, VIP)
    outcomes = scenes.failed("ECONNREFUSED", 40000, vip=VIP)
    results = judged(evidence(topology(DR), scene, outcomes=outcomes, facts=facts))
    assert (results["answered"].verdict, results["answered"].where) == (Verdict.FAIL, "rs1:eth0")
    assert results["answered"].cause == cause
    assert results["direct-reply"].verdict is Verdict.PASS


SCHEDULED: dict[str, tuple[tuple[str, ...], Verdict, str]] = {
    "newest-first": (("rs2", "rs1", "rs2"), Verdict.PASS, "rs2, rs1, rs2"),
    "oldest-first": (("rs1", "rs2"), Verdict.FAIL, "number 1, went to rs1, not to rs2: rs1, rs2 instead of rs2, rs1"),
    "stuck": (("rs2", "rs2"), Verdict.FAIL, "number 2, went to rs2, not to rs1"),
}


@pytest.mark.parametrize("case", SCHEDULED)
def test_the_order_of_servers_is_the_models(case: str) -> None:
    servers, verdict, seen = SCHEDULED[case]
    outcomes = scenes.answered(*servers, vip=VIP)
    result = judged(evidence(topology(DR, servers=2), served_by(*servers), outcomes=outcomes))["scheduler"]
    assert result.verdict is verdict
    assert seen in result.seen


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize(
    ("servers", "verdict"),
    [(("rs1", "rs3", "rs2", "rs1"), "pass"), (("rs1", "rs2", "rs3", "rs1"), "fail"), (("rs1", "rs1"), "fail")],
)
def test_where_it_began_is_not_known_of_a_used_lab_or_a_stored_capture(
    servers: tuple[str, ...], verdict: str, stored: bool
) -> None:
    outcomes = None if stored else scenes.answered(*servers, vip=VIP)
    found = evidence(topology(DR, servers=3), served_by(*servers), outcomes=outcomes, used=not stored)
    result = judged(found)["scheduler"]
    assert result.verdict == verdict
    assert "from where it was in its cycle" in result.seen or verdict == "fail"


def test_weights_are_followed() -> None:
    text = DR.replace("rr, servers: rs*", "wrr, servers: rs*, weights: [1, 2]")
    model = topology(text, servers=2)
    right = judged(evidence(model, served_by("rs2", "rs1", "rs2", "rs2")))["scheduler"]
    wrong = judged(evidence(model, served_by("rs2", "rs1", "rs2", "rs1")))["scheduler"]
    assert (right.verdict, wrong.verdict) == (Verdict.PASS, Verdict.FAIL)


def changed_by_hand(model: Topology, number: int, **service: Any) -> dict[str, DirectorTable]:
    """Return the director's table after somebody gave its service another property, or added servers backwards."""
    (entry,) = table(model, Stats(), *[0] * len(model.services[0].destinations))["director"].services
    changed_entry = replace(entry, service=replace(entry.service, **service), destinations=entry.destinations[::number])
    return {"director": DirectorTable((changed_entry,), Stats())}


def test_a_table_typed_in_another_order_is_still_the_one_described() -> None:
    model = topology(DR, servers=3)
    servers = ("rs1", "rs2", "rs3", "rs1")
    found = evidence(model, served_by(*servers), outcomes=scenes.answered(*servers, vip=VIP))
    assert judged(found)["scheduler"].verdict is Verdict.FAIL
    backwards = replace(found, tables=changed_by_hand(model, -1))
    assert judged(backwards)["scheduler"].verdict is Verdict.PASS


def test_another_scheduler_fails_even_if_it_chooses_the_same() -> None:
    model = topology(DR, servers=2)
    found = evidence(model, served_by("rs2", "rs1"), outcomes=scenes.answered("rs2", "rs1", vip=VIP))
    assert judged(replace(found, tables=changed_by_hand(model, 1)))["scheduler"].verdict is Verdict.PASS
    result = judged(replace(found, tables=changed_by_hand(model, 1, scheduler="wlc")))["scheduler"]
    assert (result.verdict, result.where) == (Verdict.FAIL, "director")
    assert "scheduler: expected rr, found wlc" in result.seen
    gone = judged(replace(found, tables={"director": DirectorTable((), Stats())}))["scheduler"]
    assert (gone.verdict, "missing" in gone.seen) == (Verdict.FAIL, True)


def test_whom_the_director_chose_counts_even_if_nothing_arrived() -> None:
    def losing(scene: Scene, packet: Any) -> None:
        scene.send("client:eth0", "router:eth0", packet)
        routed = changed(packet)
        scene.send("router:eth1", "director:eth0", routed)
        scene.lose("director:eth0", "rs1:eth0", changed(routed))

    model = topology(DR, servers=2)
    outcomes = scenes.failed("ETIMEDOUT", 40000, vip=VIP)
    result = judged(evidence(model, dr_scene((losing, silence)), outcomes=outcomes))["scheduler"]
    assert (result.verdict, "went to rs1, not to rs2" in result.seen) == (Verdict.FAIL, True)


def test_refused_connections_are_what_weight_0_predicts() -> None:
    drained = topology(DR.replace("servers: rs*", "servers: rs*, weights: [0, 0]"), servers=2)
    scene = dr_scene((refused_by_director, silence))
    outcomes = scenes.failed("ECONNREFUSED", 40000, vip=VIP)
    results = judged(evidence(drained, scene, outcomes=outcomes))
    assert (results["scheduler"].verdict, results["scheduler"].seen) == (Verdict.PASS, "refused")
    for name in ("dr-request", "answered"):
        assert results[name].verdict is Verdict.FAIL
        assert results[name].cause.startswith("no server of 192.0.2.100:80 has a weight above 0")
    wanted = judged(evidence(topology(DR, servers=2), scene, outcomes=outcomes))
    assert (wanted["scheduler"].verdict, "went to refused, not to rs2" in wanted["scheduler"].seen) == ("fail", True)


UNPREDICTABLE = {
    "earlier-connections": ("scheduler: rr", "scheduler: lc", "what lc chooses depends on connections before"),
    "random": ("scheduler: rr", "scheduler: twos", "twos chooses at random"),
    "long-cycle": (
        "SERVERS]: {role: real-server, on: {inside: 11+}}\nservices: [{vip: 192.0.2.100, port: 80, method: dr, "
        "scheduler: rr, servers: rs*",
        "2]: {role: real-server, on: {inside: 11+}}\nservices: [{vip: 192.0.2.100, port: 80, method: dr, "
        "scheduler: wrr, servers: rs*, weights: [9001, 9002]",
        "a cycle of more than 16384 connections",
    ),
    "persistent": ("scheduler: rr", "scheduler: rr, persistence: 60", "a template of earlier traffic may decide"),
}


@pytest.mark.parametrize("case", UNPREDICTABLE)
def test_what_no_model_predicts_is_skipped(case: str) -> None:
    old, new, reason = UNPREDICTABLE[case]
    result = judged(evidence(topology(DR.replace(old, new)), served_by("rs1")))["scheduler"]
    assert (result.verdict, reason in result.cause) == (Verdict.SKIP, True)


def nat_with(model: Topology, **changed_stats: int) -> Evidence:
    """Two NAT connections and the counters of them, some of the counters being other than captured."""
    capture = build.nat(2)
    right = counters(capture, build.NAT_VIP[0], connections=2, replies_at="director:eth1")
    values = {name: getattr(right, name) for name in ("connections", "packets_in", "packets_out", "bytes_in")}
    totals = Stats(**(values | {"bytes_out": right.bytes_out} | changed_stats))
    return evidence(model, capture, tables=table(model, totals, 2))


def test_counters_that_agree_pass() -> None:
    result = judged(nat_with(topology(NAT)))["statistics"]
    assert result.verdict is Verdict.PASS
    assert result.seen.startswith("both say 2 connections, 8 packets in, ")
    assert "6 packets out" in result.seen


@pytest.mark.parametrize("counter", ["connections", "packets_in", "bytes_in", "packets_out", "bytes_out"])
def test_each_counter_that_differs_fails(counter: str) -> None:
    result = judged(nat_with(topology(NAT), **{counter: 7777}))["statistics"]
    assert (result.verdict, result.where) == (Verdict.FAIL, "director")
    assert result.seen.startswith(f"{counter.replace('_', ' ')}: 7777 counted, ")


def test_connections_of_each_server_are_compared() -> None:
    model, capture = topology(DR, servers=2), served_by("rs2", "rs1", "rs2").capture()
    totals = counters(capture, VIP[0], connections=3)
    outcomes = scenes.answered("rs2", "rs1", "rs2", vip=VIP)
    right = judged(evidence(model, capture, outcomes=outcomes, tables=table(model, totals, 1, 2)))["statistics"]
    wrong = judged(evidence(model, capture, outcomes=outcomes, tables=table(model, totals, 2, 1)))["statistics"]
    assert (right.verdict, wrong.verdict) == (Verdict.PASS, Verdict.FAIL)
    assert "192.0.2.11:80: 2 connections counted, 1 captured" in wrong.seen


def test_what_was_counted_earlier_is_subtracted() -> None:
    model, capture = topology(DR), served_by("rs1").capture()
    now = counters(capture, VIP[0], connections=1)
    earlier = Stats(5, 20, 0, 900, 0)
    sums = Stats(6, 20 + now.packets_in, 0, 900 + now.bytes_in, 0)
    results = judged(evidence(model, capture, tables=table(model, sums, 6, earlier=earlier)))
    assert results["statistics"].verdict is Verdict.PASS
    assert results["scheduler"].verdict is Verdict.PASS
    wrong = judged(evidence(model, capture, tables=table(model, now, 1, earlier=earlier)))["statistics"]
    assert wrong.verdict is Verdict.FAIL


@pytest.mark.parametrize(("server", "verdict"), [("192.0.2.12", "pass"), ("192.0.2.11", "fail")])
def test_entries_of_a_used_table_are_compared_one_by_one(server: str, verdict: str) -> None:
    model, capture = topology(DR, servers=2), served_by("rs2").capture()
    totals = counters(capture, VIP[0], connections=1)
    entry = Connection(
        "TCP", ip_address(CLIENT), 40000, ip_address(VIP[0]), 80, ip_address(server), 80, "FIN_WAIT", 100
    )
    used = {"director": replace(table(model, totals, 7, 9)["director"], connections=(entry,))}
    found = evidence(model, capture, outcomes=scenes.answered("rs2", vip=VIP), tables=used, used=True)
    result = judged(found)["statistics"]
    assert result.verdict == verdict
    assert "192.0.2.11:80 in the table, rs2 captured" in result.seen or verdict == "pass"


def test_agreeing_on_nothing_is_no_pass() -> None:
    model = topology(DR)
    results = judged(evidence(model, dr_scene((refused_by_director, silence)), tables=table(model, Stats(), 0)))
    assert results["statistics"].verdict is Verdict.SKIP


def test_a_stored_capture_has_no_counters() -> None:
    assert judged(evidence(topology(DR), served_by("rs1")))["statistics"].verdict is Verdict.SKIP


def arp_claim(scene: Scene, operation: int, sender: str) -> None:
    claim = ARP(op=operation, hwsrc=mac(sender), psrc=VIP[0], pdst="192.0.2.1")
    scene.broadcast(sender, ("router:eth1",), claim)


def asks_as_vip(scene: Scene) -> None:
    dr_arp(scene)
    arp_claim(scene, 1, "rs1:eth0")


def from_outside(scene: Scene) -> None:
    """An answer that came in, by a machine that was not captured."""
    answer = ARP(op=2, hwsrc="02:99:99:99:99:99", psrc=VIP[0], pdst="192.0.2.1")
    scene.see("router:eth1", Direction.IN, Ether(src="02:99:99:99:99:99", dst=BROADCAST) / answer)


CLAIMS: dict[str, tuple[Any, Verdict, str, str]] = {
    "director": (dr_arp, Verdict.PASS, "1 answer, all from director", ""),
    "nobody": (lambda scene: None, Verdict.SKIP, "", "nobody answered ARP for 192.0.2.100"),
    "server": (lambda scene: dr_arp(scene, "rs1:eth0"), Verdict.FAIL, "rs1 answered ARP for 192.0.2.100", "arp_ignore"),
    "asking": (asks_as_vip, Verdict.FAIL, "rs1 sent an ARP request as 192.0.2.100", "arp_announce"),
    "gratuitous": (lambda scene: arp_claim(scene, 2, "rs2:eth0"), Verdict.FAIL, "rs2 answered ARP", "arp_ignore"),
    "stranger": (from_outside, Verdict.FAIL, "02:99:99:99:99:99 answered ARP", "holds 192.0.2.100"),
}


@pytest.mark.parametrize("case", CLAIMS)
def test_only_the_director_may_claim_the_vip(case: str) -> None:
    happen, verdict, seen, cause = CLAIMS[case]
    scene = Scene()
    happen(scene)
    result = judged(evidence(topology(DR, servers=2), scene))["arp-owner"]
    assert result.verdict is verdict
    assert seen in result.seen
    assert cause in result.cause
    if verdict is Verdict.FAIL:
        assert result.where
        assert result.frames
