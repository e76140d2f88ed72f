"""What the director does to requests: each method's right way passes, each wrong one fails and says why."""

from __future__ import annotations

from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import ARP

from lvslab.capture.frame import Direction, LinkType
from lvslab.verify.evidence import NodeFacts
from lvslab.verify.result import Verdict
from tests.unit.verify import scenes
from tests.unit.verify.scenes import (
    DR,
    NAT,
    TUN,
    dr_reply_from,
    dr_request_to,
    dr_scene,
    evidence,
    judged,
    one,
    topology,
)
from tests.unit.walk import build
from tests.unit.walk.build import Scene, Way, changed, framed, icmp_error

MODELS = {"nat": topology(NAT), "dr": topology(DR), "tun": topology(TUN)}
REQUESTS: dict[str, Way] = {"nat": build.nat_request, "dr": build.dr_request, "tun": build.tun_request}
REPLIES: dict[str, Way] = {"nat": build.nat_reply, "dr": build.dr_reply, "tun": build.tun_reply}
VIPS = {"nat": build.NAT_VIP, "dr": build.DR_VIP, "tun": build.TUN_VIP}


def director_sends(method: str, rewrite: Any) -> Way:
    """The method's way, but `rewrite` makes what the director sends of what it should send."""

    def way(scene: Scene, packet: Any) -> None:
        trial = Scene()
        REQUESTS[method](trial, packet)
        out = next(f for f in trial.frames if f.node == "director" and f.direction is Direction.OUT)
        for frame in trial.frames[: out.number - 1]:
            scene.see(frame.where, frame.direction, frame.data)
        sent = rewrite(IP(out.data[14:]))
        scene.see(out.where, Direction.OUT, framed("director:eth0", "rs1:eth0", sent))
        scene.see("rs1:eth0", Direction.IN, framed("director:eth0", "rs1:eth0", sent))

    return way


def rebuilt(packet: Any, **fields: Any) -> Any:
    return changed(packet, ttl=0, **fields)


def outer(packet: Any, **fields: Any) -> Any:
    """Change the outer header only; its checksum follows."""
    copy = packet.copy()
    for name, value in fields.items():
        setattr(copy, name, value)
    copy.chksum = None
    return IP(bytes(copy))


WRONG: dict[str, tuple[str, Any, str]] = {
    "nat-ttl": ("nat", lambda p: changed(p, ttl=1), "changed the TTL 64 → 64"),
    "nat-source": ("nat", lambda p: rebuilt(p, src="192.0.2.1"), "source address rewritten"),
    "nat-port": ("nat", lambda p: rebuilt(p, dport=80), "rs1 was sent 192.0.2.11:80 instead of 192.0.2.11:8080"),
    "dr-ttl": ("dr", lambda p: changed(p, ttl=-1), "changed the TTL 63 → 61"),
    "dr-destination": ("dr", lambda p: rebuilt(p, dst="192.0.2.11"), "destination address rewritten"),
    "tun-no-outer": ("tun", lambda p: IP(bytes(p.payload)), "sent it with 0 outer headers"),
    "tun-elsewhere": ("tun", lambda p: outer(p, dst="198.18.0.99"), "leads to 198.18.0.99 instead of 198.18.0.11"),
    "tun-source": ("tun", lambda p: outer(p, src="198.51.100.10"), "comes from 198.51.100.10, which is no address of"),
    "tun-inner-ttl": (
        "tun",
        lambda p: IP(bytes(IP(src=p.src, dst=p.dst, id=0, flags="DF") / changed(p.payload, ttl=-1))),
        "changed the TTL 63 → 61",
    ),
}


@pytest.mark.parametrize("method", MODELS)
def test_the_right_way_passes(method: str) -> None:
    capture = {"nat": build.nat, "dr": build.dr, "tun": build.tun}[method](3)
    result = judged(evidence(MODELS[method], capture))[f"{method}-request"]
    assert (result.verdict, result.seen) == (Verdict.PASS, "12 packets of 3 connections, each as expected")
    assert len(result.frames) == 6
    assert result.where == "director"


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_rewrite_fails(case: str) -> None:
    method, rewrite, seen = WRONG[case]
    scene = one(director_sends(method, rewrite), REPLIES[method], VIPS[method])
    result = judged(evidence(MODELS[method], scene))[f"{method}-request"]
    assert result.verdict is Verdict.FAIL
    assert seen in result.seen
    assert result.where.startswith("director:")
    assert result.frames


def test_nothing_captured_and_nothing_called_is_no_pass() -> None:
    results = judged(evidence(MODELS["dr"], Scene(), outcomes=()))
    found = scenes.verdicts(results)
    assert found.pop("answered") == "error"
    assert set(found.values()) == {"skip"}
    assert "nothing could be judged" in results["answered"].cause


def test_a_call_that_sent_no_packet_fails_at_its_client() -> None:
    outcomes = (
        *scenes.answered("rs1", vip=build.DR_VIP),
        *scenes.failed("ENETUNREACH", 40001, vip=build.DR_VIP),
    )
    results = judged(evidence(MODELS["dr"], build.dr(), outcomes=outcomes))
    for name in ("dr-request", "answered"):
        assert (results[name].verdict, results[name].where) == (Verdict.FAIL, "client")
        assert results[name].cause == "client has no route to 192.0.2.100"
    assert "1 of 2 calls never sent a packet" in results["dr-request"].seen


def test_a_request_that_loops_through_the_director_fails() -> None:
    def looping(scene: Scene, packet: Any) -> None:
        scene.send("client:eth0", "router:eth0", packet)
        routed = changed(packet)
        scene.send("router:eth1", "director:eth0", routed)
        again = changed(routed)
        scene.send("director:eth0", "rs2:eth0", again)
        back = changed(again)
        scene.send("rs2:eth0", "director:eth0", back)
        scene.send("director:eth0", "rs1:eth0", changed(back))

    model = topology(DR, servers=2)
    result = judged(evidence(model, one(looping, build.dr_reply, build.DR_VIP)))["dr-request"]
    assert (result.verdict, "it came to director 2 times" in result.seen) == (Verdict.FAIL, True)


def test_a_connection_that_changes_its_server_fails() -> None:
    ways = iter([dr_request_to("rs1"), *[dr_request_to("rs2")] * 3])

    def wavering(scene: Scene, packet: Any) -> None:
        next(ways)(scene, packet)

    result = judged(evidence(topology(DR, servers=2), one(wavering, build.dr_reply, build.DR_VIP)))["dr-request"]
    assert "began with rs1, went on with rs2" in result.seen


def bypassing(scene: Scene, packet: Any) -> None:
    scene.send("client:eth0", "router:eth0", packet)
    scene.send("router:eth1", "rs1:eth0", changed(packet))


@pytest.mark.parametrize(
    ("owner", "cause"),
    [
        ("rs1:eth0", "rs1 holds 192.0.2.100 and answers ARP for it"),
        ("director:eth0", "whoever sent it has the MAC of rs1 for 192.0.2.100"),
    ],
)
def test_a_request_past_the_director_fails_at_the_server(owner: str, cause: str) -> None:
    scene = Scene()
    scenes.dr_arp(scene, owner)
    build.connection(scene, bypassing, build.dr_reply, build.DR_VIP)
    result = judged(evidence(topology(DR, servers=2), scene))["dr-request"]
    assert (result.verdict, result.where) == (Verdict.FAIL, "rs1:eth0")
    assert "it reached rs1 without passing director" in result.seen
    assert cause in result.cause


def stopping(scene: Scene, packet: Any) -> None:
    scene.send("client:eth0", "router:eth0", packet)


def silence(scene: Scene, packet: Any) -> None:
    """No reply at all."""


@pytest.mark.parametrize(
    ("forward", "cause"), [("0", "ip_forward is 0 on router"), ("1", "no route leads from router to 192.0.2.100")]
)
def test_a_request_that_stops_at_the_router_is_explained_by_the_router(forward: str, cause: str) -> None:
    facts = {"router": NodeFacts(sysctls={"net.ipv4.ip_forward": forward})}
    result = judged(evidence(MODELS["dr"], one(stopping, silence, build.DR_VIP), facts=facts))["dr-request"]
    assert (result.verdict, result.where) == (Verdict.FAIL, "router:eth0")
    assert cause in result.cause


def test_an_unanswered_question_for_the_vip_explains_more_than_the_router() -> None:
    def asking(scene: Scene, packet: Any) -> None:
        stopping(scene, packet)
        question = ARP(op=1, hwsrc=build.mac("router:eth1"), psrc="192.0.2.1", pdst=build.DR_VIP[0])
        scene.broadcast("router:eth1", ("director:eth0", "rs1:eth0"), question)

    result = judged(evidence(MODELS["dr"], one(asking, silence, build.DR_VIP)))["dr-request"]
    assert result.cause == "nobody answers ARP for 192.0.2.100: the VIP is on no device of director"
    assert result.next == "on director: ip addr add 192.0.2.100/32 dev eth0"


def swallowing(scene: Scene, packet: Any) -> None:
    scene.send("client:eth0", "router:eth0", packet)
    scene.send("router:eth1", "director:eth0", changed(packet))


def asking_in_vain(scene: Scene, packet: Any) -> None:
    swallowing(scene, packet)
    question = ARP(op=1, hwsrc=build.mac("director:eth0"), psrc="192.0.2.2", pdst="192.0.2.11")
    scene.broadcast("director:eth0", ("rs1:eth0", "router:eth1"), question)


WIDE = NodeFacts(addresses={"lo": ("127.0.0.1/8", "192.0.2.100/24"), "eth0": ("192.0.2.11/24",)})
SWALLOWED = {
    "unknown": (swallowing, {}, "had no server to give it to, or a packet filter"),
    "no-vip": (swallowing, {"director": NodeFacts()}, "the VIP is on no device of director"),
    "mute-server": (asking_in_vain, {}, "rs1 does not answer the director's ARP requests for 192.0.2.11"),
    "wide-vip": (asking_in_vain, {"rs1": WIDE}, "rs1 has 192.0.2.100/24 on lo"),
}


@pytest.mark.parametrize("case", SWALLOWED)
def test_a_request_the_director_keeps_is_explained(case: str) -> None:
    way, facts, cause = SWALLOWED[case]
    results = judged(evidence(MODELS["dr"], one(way, silence, build.DR_VIP), facts=facts))
    assert (results["dr-request"].verdict, results["dr-request"].where) == (Verdict.FAIL, "director:eth0")
    assert "took it in and sent nothing on" in results["dr-request"].seen
    assert cause in results["dr-request"].cause
    assert results["scheduler"].verdict is Verdict.SKIP


def test_a_lost_frame_behind_the_director_fails_unless_its_connection_was_answered() -> None:
    def losing(scene: Scene, packet: Any) -> None:
        scene.send("client:eth0", "router:eth0", packet)
        routed = changed(packet)
        scene.send("router:eth1", "director:eth0", routed)
        scene.lose("director:eth0", "rs1:eth0", changed(routed))

    result = judged(evidence(MODELS["dr"], one(losing, silence, build.DR_VIP)))["dr-request"]
    assert "director sent it on, but no real server received it" in result.seen
    assert "the MAC it was sent to is nobody's" in result.cause

    scene = Scene()
    lost = IP(bytes(IP(src=build.CLIENT, dst=build.DR_VIP[0], id=7) / TCP(sport=40000, dport=80, flags="S", seq=41000)))
    losing(scene, lost)
    scene.wait(1)
    build.connection(scene, build.dr_request, build.dr_reply, build.DR_VIP)
    result = judged(evidence(MODELS["dr"], scene))["dr-request"]
    assert result.verdict is Verdict.PASS
    assert result.seen == "4 packets of 1 connection, each as expected; 1 lost on a link and sent again"


def test_a_reset_to_a_stranger_who_answered_is_no_request() -> None:
    scene = one(build.nat_request, build.nat_reply, build.NAT_VIP)
    reset = IP(bytes(IP(src=build.CLIENT, dst=build.NAT_RIP[0]) / TCP(sport=40000, dport=8080, flags="R", seq=41001)))
    scene.send("client:eth0", "rs1:eth0", reset)
    assert judged(evidence(MODELS["nat"], scene))["nat-request"].seen.startswith("4 packets of 1 connection")


def unwrapped_wrongly(rewrite: Any) -> Way:
    def way(scene: Scene, packet: Any) -> None:
        trial = Scene()
        build.tun_request(trial, packet)
        for frame in trial.frames[:-1]:
            scene.see(frame.where, frame.direction, frame.data)
        if rewrite is not None:
            scene.see("rs1:tunl0", Direction.IN, rewrite(IP(trial.frames[-1].data)), LinkType.RAW_IP)

    return way


@pytest.mark.parametrize(
    ("rewrite", "verdict"),
    [
        (lambda packet: packet, Verdict.PASS),
        (None, Verdict.FAIL),
        (lambda packet: changed(packet, ttl=-1), Verdict.FAIL),
    ],
)
def test_what_comes_out_of_the_tunnel_device_is_what_was_wrapped(rewrite: Any, verdict: Verdict) -> None:
    scene = one(unwrapped_wrongly(rewrite), build.tun_reply, build.TUN_VIP)
    result = judged(evidence(MODELS["tun"], scene))["tun-decapsulated"]
    assert result.verdict is verdict
    if verdict is Verdict.FAIL:
        assert (result.where, "the inner one never appeared" in result.seen) == ("rs1:eth0", True)


def test_no_wrapped_packet_is_nothing_to_unwrap() -> None:
    scene = one(stopping, silence, build.TUN_VIP)
    assert judged(evidence(MODELS["tun"], scene))["tun-decapsulated"].verdict is Verdict.SKIP


def test_two_servers_get_their_own_packets() -> None:
    scene = dr_scene(*[(dr_request_to(server), dr_reply_from(server)) for server in ("rs2", "rs1", "rs2")])
    results = judged(evidence(topology(DR, servers=2), scene))
    assert scenes.verdicts(results) == {
        "arp-owner": "pass",
        "dr-request": "pass",
        "direct-reply": "pass",
        "answered": "pass",
        "scheduler": "pass",
        "statistics": "skip",
        "checksums": "pass",
        "capture-complete": "pass",
    }


def out_of_ttl(scene: Scene, packet: Any) -> None:
    scene.send("client:eth0", "director:eth0", packet)
    scene.send("director:eth0", "client:eth0", icmp_error(build.NAT_VIP[0], build.CLIENT, 11, 0, packet))


def test_a_ttl_that_runs_out_is_no_lack_of_servers() -> None:
    answered = judged(evidence(MODELS["nat"], one(out_of_ttl, silence, build.NAT_VIP)))["answered"]
    assert answered.verdict is Verdict.FAIL
    assert answered.cause.startswith("the TTL ran out at director")
