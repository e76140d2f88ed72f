"""A capture that is not good enough gives errors: neither a pass nor a failure of the cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scapy.layers.inet import IP

from lvslab.capture.frame import Capture, Direction
from lvslab.verify.evidence import Evidence
from lvslab.verify.result import Result, TopologyResult, Verdict
from lvslab.walk import find_walks
from lvslab.walk.model import Unmatched
from tests.unit.verify import scenes
from tests.unit.verify.scenes import DR, NAT, dr_reply_from, dr_request_to, dr_scene, evidence, judged, one, topology
from tests.unit.walk import build
from tests.unit.walk.build import Scene, framed


def silence(scene: Scene, packet: Any) -> None:
    """No reply at all."""


def lossy(capture: Capture) -> Capture:
    return replace(capture, drops={"rs1": 3, "client": 1})


def test_on_a_lossy_capture_failures_become_errors_and_passes_stay() -> None:
    model = topology(DR)
    whole = one(build.dr_request, silence, build.DR_VIP).capture()
    assert scenes.verdicts(judged(evidence(model, whole)))["direct-reply"] == "fail"
    results = judged(evidence(model, lossy(whole)))
    assert results["direct-reply"].verdict is Verdict.ERROR
    assert "frames were lost while recording" in results["direct-reply"].cause
    assert results["dr-request"].verdict is Verdict.PASS
    assert scenes.names(results.values(), Verdict.FAIL) == set()


def test_loss_is_reported_with_the_node_that_lost_most() -> None:
    result = judged(evidence(topology(DR), lossy(build.dr())))["capture-complete"]
    assert (result.verdict, result.where) == (Verdict.ERROR, "rs1")
    assert result.seen == "4 frames lost, 3 of them at rs1"


@pytest.mark.parametrize(
    ("capture", "verdict", "words"),
    [
        (build.dr(), Verdict.PASS, f"{len(build.dr().frames)} frames recorded, none lost"),
        (Capture(()), Verdict.SKIP, "no frame was recorded"),
    ],
)
def test_a_capture_without_loss(capture: Capture, verdict: Verdict, words: str) -> None:
    result = judged(evidence(topology(DR), capture))["capture-complete"]
    assert result.verdict is verdict
    assert words in result.seen + result.cause


def with_unmatched(found: Evidence, *rest: Unmatched) -> Evidence:
    return replace(found, walks=replace(found.walks, unmatched=rest))


def stray_of(capture: Capture, number: int) -> Unmatched:
    """Return one frame of a capture as if its beginning were unknown."""
    walks = find_walks(capture).walks
    hop = next(hop for walk in walks for hop in walk.hops if hop.number == number)
    return Unmatched((hop,), "could continue more than one packet")


WALK_BASED = ("dr-request", "direct-reply", "answered", "scheduler")


def test_what_could_not_be_joined_takes_back_every_verdict_on_its_service() -> None:
    capture = dr_scene((dr_request_to("rs1"), dr_reply_from("rs1"))).capture()
    clean = evidence(topology(DR), capture)
    tcp_frame = next(hop.number for walk in clean.walks.walks for hop in walk.hops if hop.packet.ip)
    results = judged(with_unmatched(clean, stray_of(capture, tcp_frame)))
    assert {results[name].verdict for name in WALK_BASED} == {Verdict.ERROR}
    assert results["dr-request"].frames == (tcp_frame,)
    assert results["arp-owner"].verdict is Verdict.PASS
    for name in WALK_BASED:
        assert "could not be joined: could continue more than one packet" in results[name].cause
        assert results[name].next.startswith("lvslab walk --unmatched shows them; ")


def test_a_failure_is_taken_back_too() -> None:
    capture = one(build.dr_request, silence, build.DR_VIP).capture()
    found = with_unmatched(evidence(topology(DR), capture), stray_of(capture, 1))
    assert scenes.names(judged(found).values(), Verdict.FAIL) == set()


def test_a_candidate_in_a_connection_is_enough() -> None:
    clean = evidence(topology(DR), build.dr())
    known = clean.walks.conversations[-1].walks[0].origin.number
    arp = clean.walks.walks[0].hops[:1]
    assert judged(with_unmatched(clean, Unmatched(arp, "ambiguous", (known,))))["dr-request"].verdict is Verdict.ERROR
    assert judged(with_unmatched(clean, Unmatched(arp, "ambiguous", (9999,))))["dr-request"].verdict is Verdict.PASS


def test_what_was_only_overheard_takes_nothing_back() -> None:
    clean = evidence(topology(DR), build.dr())
    assert judged(with_unmatched(clean, Unmatched((), "came in")))["dr-request"].verdict is Verdict.PASS


def broken(packet: Any) -> Any:
    """The packet with a wrong TCP checksum."""
    copy = packet.copy()
    copy.payload.chksum = copy.payload.chksum ^ 0xFFFF
    return IP(bytes(copy))


def test_a_wrong_checksum_fails_at_its_interface() -> None:
    def spoiling(scene: Scene, packet: Any) -> None:
        scene.send("rs1:eth0", "router:eth1", broken(packet))
        scene.send("router:eth0", "client:eth0", broken(build.changed(packet)))

    result = judged(evidence(topology(DR), one(build.dr_request, spoiling, build.DR_VIP)))["checksums"]
    assert (result.verdict, result.where) == (Verdict.FAIL, "rs1:eth0")
    assert "12 frames with a wrong checksum, 3 of them at rs1:eth0: tcp in frame" in result.seen
    assert len(result.frames) == 3


def test_checksums_of_unmatched_frames_count_too() -> None:
    scene = Scene()
    packet = build.udp((build.CLIENT, 1), build.DR_VIP, b"data")
    packet.payload.chksum = 1
    scene.see("director:eth0", Direction.IN, framed("router:eth1", "director:eth0", packet))
    assert judged(evidence(topology(DR), scene))["checksums"].verdict is Verdict.FAIL


def test_checksums_left_to_hardware_are_no_evidence() -> None:
    capture = build.dr()
    half = [replace(frame, checksum_ready=frame.number % 2 == 0) for frame in capture.frames]
    none = [replace(frame, checksum_ready=False) for frame in capture.frames]
    result = judged(evidence(topology(DR), replace(capture, frames=tuple(half))))["checksums"]
    assert "more left to hardware" in result.seen
    assert judged(evidence(topology(DR), replace(capture, frames=tuple(none))))["checksums"].verdict is Verdict.SKIP


def test_a_failure_without_a_cause_of_its_own_says_what_it_follows_from() -> None:
    outcomes = scenes.failed("ETIMEDOUT", 40000, vip=build.DR_VIP)
    results = judged(evidence(topology(DR), one(build.dr_request, silence, build.DR_VIP), outcomes=outcomes))
    assert results["answered"].cause == "follows from the failure of direct-reply"


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("method", {"dr-request", "direct-reply"}),
        ("arp", {"arp-owner"}),
        ("answers", {"answered"}),
        ("scheduler", {"scheduler"}),
        ("statistics", {"statistics"}),
        ("checksums", {"checksums"}),
        ("dns", set()),
    ],
)
def test_only_the_groups_asked_for_are_judged(group: str, names: set[str]) -> None:
    model = topology(DR + f"expect: [{group}]\n")
    assert judged(evidence(model, build.dr())).keys() == names | {"capture-complete"}


def test_several_services_are_told_apart_by_protocol_and_address() -> None:
    second = NAT.replace("services: [", "services: [{vip: 198.51.100.100, port: 53, protocol: udp, method: nat, ")
    text = second.replace("method: nat, {", "method: nat, scheduler: rr, servers: rs*}, {")
    found = judged(evidence(topology(text), build.nat()))
    assert found["nat-request tcp/198.51.100.100:80"].verdict is Verdict.PASS
    assert found["nat-request udp/198.51.100.100:53"].verdict is Verdict.SKIP


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        ([], Verdict.SKIP),
        ([Verdict.SKIP, Verdict.PASS], Verdict.PASS),
        ([Verdict.PASS, Verdict.FAIL, Verdict.SKIP], Verdict.FAIL),
        ([Verdict.FAIL, Verdict.ERROR, Verdict.PASS], Verdict.ERROR),
    ],
)
def test_a_topology_has_its_worst_expectations_verdict(verdicts: list[Verdict], worst: Verdict) -> None:
    results = tuple(Result("name", verdict, "", "") for verdict in verdicts)
    assert TopologyResult("t", "uml", "6", "netns", results).verdict is worst
