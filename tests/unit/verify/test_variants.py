"""Forwarding variants: what the director keeps, which tunnel and source it uses, where a claim of the VIP matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import ARP, GRE

from lvslab.verify.result import Verdict
from tests.unit.verify import scenes
from tests.unit.verify.scenes import DR, NAT, TUN, dr_reply_from, dr_request_to, dr_scene, evidence, judged, topology
from tests.unit.walk import build
from tests.unit.walk.build import Scene, changed, mac

LOCALNODE = DR.replace("servers: rs*", "servers: [director, rs*]")
VIP = build.DR_VIP


def kept(scene: Scene, packet: Any) -> None:
    """As far as the director, and no further."""
    scene.send("client:eth0", "router:eth0", packet)
    scene.send("router:eth1", "director:eth0", changed(packet))


def reply_of_director(**rewritten: Any) -> Callable[[Scene, Any], None]:
    def way(scene: Scene, packet: Any) -> None:
        sent = changed(packet, ttl=64, **rewritten) if rewritten else packet
        scene.send("director:eth0", "router:eth1", sent)
        scene.send("router:eth0", "client:eth0", changed(sent))

    return way


def silence(scene: Scene, packet: Any) -> None:
    """No reply at all."""


LOCAL = {
    "the director answers as the VIP": (kept, reply_of_director(), Verdict.PASS, "1 connection of 1 kept"),
    "nobody answers": (kept, silence, Verdict.FAIL, "director kept it and never answered"),
    "another server answers": (kept, dr_reply_from("rs1"), Verdict.FAIL, "rs1 answered as 192.0.2.100:80"),
    "nothing is kept": (dr_request_to("rs1"), dr_reply_from("rs1"), Verdict.SKIP, ""),
}


@pytest.mark.parametrize("case", LOCAL)
def test_local_delivery(case: str) -> None:
    request, reply, verdict, seen = LOCAL[case]
    result = judged(evidence(topology(LOCALNODE), dr_scene((request, reply))))["local-delivery"]
    assert result.verdict is verdict
    assert seen in result.seen


def test_what_the_director_keeps_is_no_request_of_the_method() -> None:
    results = judged(evidence(topology(LOCALNODE), dr_scene((kept, reply_of_director()))))
    assert results["dr-request"].verdict is Verdict.SKIP
    assert results["dr-request"].cause == "director kept every connection for itself"


def test_the_method_is_judged_by_what_the_director_sends_on() -> None:
    ways = [(kept, reply_of_director()), (dr_request_to("rs1"), dr_reply_from("rs1"))]
    results = judged(evidence(topology(LOCALNODE), dr_scene(*ways)))
    assert results["dr-request"].verdict is Verdict.PASS
    assert "of 1 connection" in results["dr-request"].seen
    assert results["local-delivery"].seen == "1 connection of 2 kept"


CLAIMS = {"rs1:eth0": Verdict.SKIP, "router:eth1": Verdict.FAIL}
"""On the servers' network nobody looks for the VIP; on the director's, everybody does."""


@pytest.mark.parametrize("where", CLAIMS)
def test_a_claim_matters_on_the_network_of_the_vip(where: str) -> None:
    scene = Scene()
    claim = ARP(op=1, hwsrc=mac(where), psrc=build.TUN_VIP[0], pdst="198.18.0.1")
    scene.broadcast(where, ("director:eth0",), claim)
    assert judged(evidence(topology(TUN), scene))["arp-owner"].verdict is CLAIMS[where]


MASQUERADED = NAT.replace("scheduler: rr", "source_nat: true, scheduler: rr")


def nat_request_with(**rewritten: Any) -> Callable[[Scene, Any], None]:
    def way(scene: Scene, packet: Any) -> None:
        scene.send("client:eth0", "director:eth0", packet)
        scene.send("director:eth1", "rs1:eth0", changed(packet, dst="192.0.2.11", dport=8080, **rewritten))

    return way


SOURCES = {
    "the director's own": (MASQUERADED, {"src": "192.0.2.1"}, Verdict.PASS, "each as expected"),
    "the client's": (MASQUERADED, {}, Verdict.FAIL, "which is no address of director"),
    "a stranger's": (MASQUERADED, {"src": "192.0.2.77"}, Verdict.FAIL, "192.0.2.77"),
    "rewritten without being asked": (NAT, {"src": "192.0.2.1"}, Verdict.FAIL, "something else changed, too"),
}


@pytest.mark.parametrize("case", SOURCES)
def test_source_nat(case: str) -> None:
    text, rewritten, verdict, seen = SOURCES[case]
    scene = scenes.one(nat_request_with(**rewritten), silence, build.NAT_VIP)
    result = judged(evidence(topology(text), scene))["nat-request"]
    assert result.verdict is verdict
    assert seen in result.seen


TUNNELS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "ipip": ("", lambda inner: inner),
    "gre": ("tunnel: gre,", lambda inner: GRE() / inner),
    "gue": ("tunnel: gue,", lambda inner: UDP(sport=40000, dport=6080) / b"\x00\x04\x00\x00" / inner),
}


def tun_request(kind: str) -> Callable[[Scene, Any], None]:
    def way(scene: Scene, packet: Any) -> None:
        scene.send("client:eth0", "router:eth0", packet)
        routed = changed(packet)
        scene.send("router:eth1", "director:eth0", routed)
        inner = changed(routed)
        header = IP(src=build.TUN_DIP, dst=build.TUN_RIP, ttl=inner.ttl, id=0, flags="DF")
        outer = IP(bytes(header / TUNNELS[kind][1](inner)))
        scene.send("director:eth0", "router:eth1", outer)
        routed_outer = outer.copy()
        routed_outer.ttl, routed_outer.chksum = outer.ttl - 1, None
        scene.send("router:eth2", "rs1:eth0", routed_outer)

    return way


@pytest.mark.parametrize("sent", TUNNELS)
@pytest.mark.parametrize("wanted", TUNNELS)
def test_the_outer_header_must_be_the_one_that_was_asked_for(wanted: str, sent: str) -> None:
    scene = scenes.one(tun_request(sent), silence, build.TUN_VIP)
    result = judged(evidence(topology(TUN.replace("method: tun,", f"method: tun, {TUNNELS[wanted][0]}")), scene))[
        "tun-request"
    ]
    if wanted == sent:
        assert result.verdict is Verdict.PASS, result.seen
    else:
        assert result.verdict is Verdict.FAIL
        assert f"the outer header is {sent}, not {wanted}" in result.seen


CLIENT_OF_ITS_OWN = """
name: director-client
networks: {inside: 192.0.2.0/24}
nodes:
  director: {role: director, on: {inside: 2}}
  rs[1-SERVERS]: {role: real-server, on: {inside: 11+}}
services: [{vip: 192.0.2.100, port: 80, method: METHOD, scheduler: rr, servers: rs*}]
traffic: {client: director}
"""
DIP, PORT = "192.0.2.2", 40000


def own_call(asked: str, *, answer: str = "192.0.2.100", data: bytes = b"HTTP/1.0 200 OK\r\n\r\nrs1\n") -> Scene:
    """The director asks a server at `asked`, and is answered as `answer`; no answer, no data: empty."""
    scene = Scene()
    request = IP(src=DIP, dst=asked) / TCP(sport=PORT, dport=80, flags="S", seq=1)
    scene.send("director:eth0", "rs1:eth0", IP(bytes(request)))
    if answer:
        reply = IP(src=answer, dst=DIP) / TCP(sport=80, dport=PORT, flags="PA" if data else "SA", seq=9, ack=2) / data
        scene.send("rs1:eth0", "director:eth0", IP(bytes(reply)))
    return scene


OWN_CALLS = {
    "dr, answered": ("dr", own_call("192.0.2.100"), Verdict.PASS, "1 connection, all answered"),
    "nat, answered": ("nat", own_call("192.0.2.11", answer="192.0.2.11"), Verdict.PASS, "1 connection, all answered"),
    "not taken": ("dr", own_call("192.0.2.100", data=b""), Verdict.FAIL, "came to director, which did not take it"),
    "silent": ("dr", own_call("192.0.2.100", answer=""), Verdict.FAIL, "rs1 received it and never answered"),
    "nothing sent": ("dr", Scene(), Verdict.FAIL, "director sent nothing to a server"),
}


@pytest.mark.parametrize("case", OWN_CALLS)
def test_the_director_as_client(case: str) -> None:
    method, scene, verdict, seen = OWN_CALLS[case]
    result = judged(evidence(topology(CLIENT_OF_ITS_OWN.replace("METHOD", method)), scene))["director-client"]
    assert result.verdict is verdict, result.seen
    assert seen in result.seen
