"""The way back: direct for DR and TUN, through the director for NAT."""

from __future__ import annotations

from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, UDP

from lvslab.verify.evidence import NodeFacts
from lvslab.verify.result import Result, Verdict
from tests.unit.verify.scenes import DR, NAT, TUN, evidence, judged, one, topology
from tests.unit.walk import build
from tests.unit.walk.build import Scene, Way, changed, icmp_error, udp

UDP_DR = DR.replace("port: 80,", "port: 80, protocol: udp,")


def silence(scene: Scene, packet: Any) -> None:
    """No reply at all."""


def judge_dr(reply: Way, **facts: NodeFacts) -> Result:
    scene = one(build.dr_request, reply, build.DR_VIP)
    return judged(evidence(topology(DR, servers=2), scene, facts=facts or None))["direct-reply"]


def judge_nat(reply: Way, **facts: NodeFacts) -> Result:
    scene = one(build.nat_request, reply, build.NAT_VIP)
    return judged(evidence(topology(NAT), scene, facts=facts or None))["nat-reply"]


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("dr", "6 replies, none at director"),
        ("tun", "6 replies, none at director"),
        ("nat", "6 replies, each became 198.51.100.100:80"),
    ],
)
def test_the_right_way_back_passes(name: str, seen: str) -> None:
    text, capture = {"dr": (DR, build.dr(2)), "tun": (TUN, build.tun(2)), "nat": (NAT, build.nat(2))}[name]
    results = judged(evidence(topology(text), capture))
    result = results["nat-reply" if name == "nat" else "direct-reply"]
    assert (result.verdict, result.seen) == (Verdict.PASS, seen)
    assert result.frames


def through_director(scene: Scene, packet: Any) -> None:
    scene.send("rs1:eth0", "director:eth0", packet)
    scene.send("director:eth0", "router:eth1", changed(packet))
    scene.send("router:eth0", "client:eth0", changed(changed(packet)))


def kept_by_director(scene: Scene, packet: Any) -> None:
    scene.send("rs1:eth0", "director:eth0", packet)


def from_rs2(scene: Scene, packet: Any) -> None:
    scene.send("rs2:eth0", "router:eth1", packet)
    scene.send("router:eth0", "client:eth0", changed(packet))


def from_its_own_address(scene: Scene, packet: Any) -> None:
    build.dr_reply(scene, changed(packet, ttl=0, src="192.0.2.11"))


def stopping_at_router(scene: Scene, packet: Any) -> None:
    scene.send("rs1:eth0", "router:eth1", packet)


def to_itself(scene: Scene, packet: Any) -> None:
    scene.send("rs1:lo", "rs1:lo", packet)


FORWARDS_NOT = NodeFacts(sysctls={"net.ipv4.ip_forward": "0"})
WIDE = NodeFacts(addresses={"lo": ("192.0.2.100/24",)}, gateways=("192.0.2.1",))
DIRECT: dict[str, tuple[Way, dict[str, NodeFacts], str, str, str]] = {
    "director": (through_director, {}, "director:eth0", "came to director", "default gateway of rs1 is director"),
    "martian": (kept_by_director, {}, "director:eth0", "came to director", "holds 192.0.2.100 itself and drops"),
    "stranger": (from_rs2, {}, "rs2:eth0", "rs1 got the request, rs2 answered", "take themselves for the server"),
    "source": (from_its_own_address, {}, "rs1:eth0", "rs1 answered as 192.0.2.11:80", "does not answer as the address"),
    "router": (stopping_at_router, {}, "router:eth1", "last seen at router:eth1", "router has no way to the client"),
    "off": (stopping_at_router, {"router": FORWARDS_NOT}, "router:eth1", "last seen", "ip_forward is 0 on router"),
    "wide": (to_itself, {"rs1": WIDE}, "rs1:lo", "last seen at rs1:lo", "rs1 has 192.0.2.100/24 on lo"),
}


@pytest.mark.parametrize("case", DIRECT)
def test_a_direct_reply_that_goes_wrong_fails(case: str) -> None:
    way, facts, where, seen, cause = DIRECT[case]
    result = judge_dr(way, **facts)
    assert (result.verdict, result.where) == (Verdict.FAIL, where)
    assert seen in result.seen
    assert cause in result.cause
    assert result.next


def test_a_server_behind_the_director_is_told_the_router_to_use() -> None:
    assert judge_dr(through_director).next == "on rs1: ip route replace default via 192.0.2.1"


HAS_VIP = {"lo": ("192.0.2.100/32",)}
SILENT: dict[str, tuple[dict[str, NodeFacts], str]] = {
    "unknown": ({}, "likely: the VIP is missing on the server, or the server has no route to the client"),
    "no-vip": ({"rs1": NodeFacts(gateways=("192.0.2.1",))}, "the VIP 192.0.2.100 is on no device of rs1"),
    "wide": ({"rs1": WIDE}, "rs1 has 192.0.2.100/24 on lo"),
    "route": ({"rs1": NodeFacts(addresses=HAS_VIP)}, "rs1 has no default route"),
    "rp_filter": (
        {
            "rs1": NodeFacts(
                addresses=HAS_VIP,
                gateways=("192.0.2.1",),
                sysctls={"net.ipv4.conf.all.rp_filter": "1"},
                counters={"IPReversePathFilter": 3},
            )
        },
        "rp_filter on rs1 dropped 3 packets (all is 1, eth0 is 0)",
    ),
    "nothing-wrong": (
        {"rs1": NodeFacts(addresses=HAS_VIP, gateways=("192.0.2.1",), sysctls={"net.ipv4.conf.all.rp_filter": "1"})},
        "likely: the VIP is missing",
    ),
}


@pytest.mark.parametrize("case", SILENT)
def test_a_silent_dr_server_is_explained(case: str) -> None:
    facts, cause = SILENT[case]
    result = judge_dr(silence, **facts)
    assert (result.verdict, result.where) == (Verdict.FAIL, "rs1:eth0")
    assert "rs1 received it and never answered" in result.seen
    assert result.cause.startswith(cause)


def test_a_silent_tunnel_server_without_its_device_is_explained() -> None:
    scene = one(build.tun_request, silence, build.TUN_VIP)
    facts = {"rs1": NodeFacts(up=frozenset({"eth0"}))}
    result = judged(evidence(topology(TUN), scene, facts=facts))["direct-reply"]
    assert result.cause.startswith("tunl0 of rs1 is down or missing")


def test_a_server_that_refuses_the_tunnel_is_explained_without_facts() -> None:
    def refusing(scene: Scene, packet: Any) -> None:
        build.tun_request(scene, packet)
        wrapped = IP(bytes(IP(src=build.TUN_DIP, dst=build.TUN_RIP, id=0, flags="DF") / packet))
        error = icmp_error(build.TUN_RIP, build.TUN_DIP, 3, 3, wrapped)
        scene.send("rs1:eth0", "router:eth2", error)

    result = judged(evidence(topology(TUN), one(refusing, silence, build.TUN_VIP)))["direct-reply"]
    assert result.cause.startswith("no tunnel device of rs1 takes the packets")


def by_another_router(scene: Scene, packet: Any) -> None:
    own = changed(packet, ttl=0, src=build.NAT_RIP[0], sport=build.NAT_RIP[1])
    scene.send("rs1:eth0", "other:eth1", own)
    scene.send("other:eth0", "client:eth0", changed(own))


def to_director_only(scene: Scene, packet: Any) -> None:
    own = changed(packet, ttl=0, src=build.NAT_RIP[0], sport=build.NAT_RIP[1])
    scene.send("rs1:eth0", "director:eth1", own)


def untranslated(scene: Scene, packet: Any) -> None:
    own = changed(packet, ttl=0, src=build.NAT_RIP[0], sport=build.NAT_RIP[1])
    scene.send("rs1:eth0", "director:eth1", own)
    scene.send("director:eth0", "client:eth0", changed(own))


def to_nobody(scene: Scene, packet: Any) -> None:
    own = changed(packet, ttl=0, src=build.NAT_RIP[0], sport=build.NAT_RIP[1])
    scene.lose("rs1:eth0", "nobody:eth0", own)


ELSEWHERE = NodeFacts(gateways=("192.0.2.3",))
TRANSLATED: dict[str, tuple[Way, dict[str, NodeFacts], str, str, str]] = {
    "off-path": (by_another_router, {}, "client:eth0", "by way of other, not of director", "is not director"),
    "gateway": (by_another_router, {"rs1": ELSEWHERE}, "client:eth0", "by way of other", "(it has 192.0.2.3)"),
    "kept": (to_director_only, {}, "director:eth1", "went no further", "likely: ip_forward is 0 on director"),
    "off": (to_director_only, {"director": FORWARDS_NOT}, "director:eth1", "no further", "ip_forward is 0 on director"),
    "filter": (to_director_only, {"director": NodeFacts()}, "director:eth1", "went no further", "a packet filter"),
    "source": (untranslated, {}, "director:eth0", "as 192.0.2.11:8080 instead of 198.51.100.100:80", "has no entry"),
    "nobody": (to_nobody, {}, "rs1:eth0", "did not come to client", "rs1 sends it where nobody takes it"),
    "silent": (silence, {}, "rs1:eth0", "never answered", "likely: the server has no route to the client"),
}


@pytest.mark.parametrize("case", TRANSLATED)
def test_a_nat_reply_that_goes_wrong_fails(case: str) -> None:
    way, facts, where, seen, cause = TRANSLATED[case]
    result = judge_nat(way, **facts)
    assert (result.verdict, result.where) == (Verdict.FAIL, where)
    assert seen in result.seen
    assert cause in result.cause
    assert result.next


def test_an_unreached_server_has_nothing_to_reply_to() -> None:
    def stopping(scene: Scene, packet: Any) -> None:
        scene.send("client:eth0", "director:eth0", packet)

    result = judged(evidence(topology(NAT), one(stopping, silence, build.NAT_VIP)))["nat-reply"]
    assert (result.verdict, result.cause) == (Verdict.SKIP, "no request reached a server")


def udp_calls(scene: Scene, *, errors: int, calls: int) -> Scene:
    """Datagrams that rs1 refuses with ICMP errors, as many as its limit allows."""
    for index in range(calls):
        question = udp((build.CLIENT, 40000 + index), build.DR_VIP, f"call {index}".encode())
        build.dr_request(scene, question)
        if index < errors:
            build.dr_reply(scene, icmp_error(build.DR_VIP[0], build.CLIENT, 3, 3, changed(changed(question))))
    return scene


def test_a_refusal_by_icmp_is_an_answer_and_one_stands_for_all() -> None:
    results = judged(evidence(topology(UDP_DR), udp_calls(Scene(), errors=1, calls=3)))
    assert (results["direct-reply"].verdict, results["direct-reply"].cause) == (
        Verdict.SKIP,
        "no server sent a reply",
    )
    assert results["answered"].verdict is Verdict.FAIL
    assert results["answered"].cause == "likely: nothing listens on udp port 80 of rs1"


def test_without_any_refusal_a_silent_udp_server_fails() -> None:
    results = judged(evidence(topology(UDP_DR), udp_calls(Scene(), errors=0, calls=2)))
    assert results["direct-reply"].verdict is Verdict.FAIL


def test_udp_answers_pass() -> None:
    scene = Scene()
    for port in (40000, 40001):
        build.dr_request(scene, udp((build.CLIENT, port), build.DR_VIP, f"call {port}".encode()))
        build.dr_reply(scene, udp(build.DR_VIP, (build.CLIENT, port), f"rs1\ncall {port}".encode()))
    results = judged(evidence(topology(UDP_DR), scene))
    assert [results[name].verdict for name in ("dr-request", "direct-reply", "answered", "scheduler")] == ["pass"] * 4


def test_another_icmp_error_is_no_refusal() -> None:
    scene = Scene()
    question = udp((build.CLIENT, 40000), build.DR_VIP, b"call")
    build.dr_request(scene, question)
    build.dr_reply(scene, icmp_error(build.DR_VIP[0], build.CLIENT, 3, 13, changed(changed(question))))
    assert UDP in question
    assert ICMP not in question
    assert judged(evidence(topology(UDP_DR), scene))["direct-reply"].verdict is Verdict.FAIL
