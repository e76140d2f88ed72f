"""SCTP services judged without a kernel: offered addresses, refusals, and when associations count as active."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from scapy.layers.sctp import (
    SCTPChunkAbort,
    SCTPChunkInit,
    SCTPChunkShutdown,
    SCTPChunkShutdownAck,
    SCTPChunkShutdownComplete,
)

from lvslab.topology.model import Protocol
from lvslab.traffic.outcome import Outcome
from lvslab.verify.activity import turns
from lvslab.verify.result import Result, Verdict
from lvslab.verify.served import served_connections
from tests.unit.verify.scenes import (
    DR,
    NAT,
    dr_arp,
    dr_reply_from,
    dr_request_to,
    evidence,
    judged,
    topology,
    verdicts,
)
from tests.unit.walk import build
from tests.unit.walk.build import CLIENT, CLIENT_PORT, Scene, Way, changed, sctp

OVER_DR = DR.replace("port: 80,", "port: 80, protocol: sctp,")
OVER_NAT = NAT.replace("port: 80,", "port: 80, protocol: sctp,")
VIP = build.DR_VIP
SHUTTING_DOWN = (SCTPChunkShutdown, SCTPChunkShutdownAck, SCTPChunkShutdownComplete)


def answered(*servers: str) -> tuple[Outcome, ...]:
    return tuple(
        Outcome("client", CLIENT_PORT + index, *VIP, "ok", 0.01, f"{server}\nquestion".encode(), Protocol.SCTP)
        for index, server in enumerate(servers)
    )


def by_dr(*servers: str, offers: Sequence[str] = (), way: Way | None = None) -> Scene:
    scene = Scene()
    dr_arp(scene)
    for index, server in enumerate(servers):
        reply = way or dr_reply_from(server)
        build.association(scene, dr_request_to(server), reply, VIP, CLIENT_PORT + index, offers=offers)
    return scene


def results(scene: Scene, text: str = OVER_DR, *, servers: int = 2, answers: Sequence[str] = ()) -> dict[str, Result]:
    return judged(evidence(topology(text, servers=servers), scene, outcomes=answered(*answers) or None))


def test_a_right_cluster_passes() -> None:
    found = results(by_dr("rs2", "rs1", "rs2"), answers=["rs2", "rs1", "rs2"])
    assert {name for name, verdict in verdicts(found).items() if verdict != "pass"} == {"statistics"}
    assert found["association"].seen == "3 INIT ACKs, none with an address in it"


def test_a_server_that_offers_the_vip_alone_passes() -> None:
    found = results(by_dr("rs2", offers=[VIP[0]]), answers=["rs2"])
    assert found["association"].verdict is Verdict.PASS


def test_a_server_that_offers_its_own_address_fails() -> None:
    found = results(by_dr("rs2", offers=[VIP[0], "192.0.2.12"]), answers=["rs2"])["association"]
    assert (found.verdict, found.where) == (Verdict.FAIL, "rs2:eth0")
    assert found.seen == "the INIT ACK of rs2 offers 192.0.2.12"
    assert "bound to every address" in found.cause
    assert "bind the server to 192.0.2.100 alone" in found.next


def test_a_server_that_answers_with_its_own_address_fails_twice() -> None:
    def as_itself(scene: Scene, packet: Any) -> None:
        dr_reply_from("rs2")(scene, changed(packet, ttl=0, src="192.0.2.12"))

    found = results(by_dr("rs2", offers=[VIP[0], "192.0.2.12"], way=as_itself), answers=["rs2"])
    assert found["association"].verdict is Verdict.FAIL
    assert found["direct-reply"].verdict is Verdict.FAIL
    assert "rs2 answered as 192.0.2.12:80, which the client never asked" in found["direct-reply"].seen


def test_behind_nat_the_offer_is_not_translated_and_fails() -> None:
    def request(scene: Scene, packet: Any) -> None:
        scene.send("client:eth0", "director:eth0", packet)
        scene.send("director:eth1", "rs1:eth0", changed(packet, dst="192.0.2.11", dport=8080))

    def reply(scene: Scene, packet: Any) -> None:
        scene.send("rs1:eth0", "director:eth1", changed(packet, ttl=0, src="192.0.2.11", sport=8080))
        scene.send("director:eth0", "client:eth0", changed(packet))

    scene = Scene()
    build.association(scene, request, reply, build.NAT_VIP, offers=["192.0.2.11", "203.0.113.9"])
    found = results(scene, OVER_NAT, servers=1)
    assert {name: found[name].verdict for name in ("association", "nat-request", "nat-reply")} == {
        "association": Verdict.FAIL,
        "nat-request": Verdict.PASS,
        "nat-reply": Verdict.PASS,
    }
    assert "offers 192.0.2.11 and 203.0.113.9" in found["association"].seen
    assert "bind the server to 192.0.2.11 alone" in found["association"].next


def refused() -> Scene:
    scene = Scene()
    dr_arp(scene)
    init = sctp((CLIENT, CLIENT_PORT), VIP, SCTPChunkInit(init_tag=7), tag=0)
    dr_request_to("rs2")(scene, init)
    dr_reply_from("rs2")(scene, sctp(VIP, (CLIENT, CLIENT_PORT), SCTPChunkAbort(), tag=7))
    return scene


def test_an_abort_refuses_a_call() -> None:
    outcomes = (Outcome("client", CLIENT_PORT, *VIP, "ECONNREFUSED", 0.01, b"", Protocol.SCTP),)
    found = judged(evidence(topology(OVER_DR, servers=2), refused(), outcomes=outcomes))
    assert found["association"].verdict is Verdict.SKIP
    assert (found["answered"].verdict, found["answered"].where) == (Verdict.FAIL, "rs2:eth0")
    assert "connection refused" in found["answered"].seen
    assert "nothing listens on sctp port 80 of rs2" in found["answered"].cause


@pytest.mark.parametrize(
    ("scene", "states"),
    [
        (by_dr("rs2"), [True, False]),
        (refused(), []),
    ],
    ids=["whole", "refused"],
)
def test_an_association_is_active_while_it_is_established(scene: Scene, states: list[bool]) -> None:
    model = topology(OVER_DR, servers=2)
    (served,) = served_connections(evidence(model, scene), model.services[0])
    assert [turn.active for turn in turns(served)] == states


def test_schedulers_that_count_know_it_as_active_only_then() -> None:
    """With sed the heavier server is asked again once its association has ended, and not while it lasts."""
    heavy_first = OVER_DR.replace("scheduler: rr", "scheduler: sed, weights: [2, 1]")
    heavy = ("rs1", "rs1", "rs1")
    assert results(by_dr(*heavy), heavy_first, answers=heavy)["scheduler"].verdict is Verdict.PASS

    def lasting(way: Way) -> Way:
        def shortened(scene: Scene, packet: Any) -> None:
            if not any(kind in packet for kind in SHUTTING_DOWN):
                way(scene, packet)

        return shortened

    def verdict(*servers: str) -> Verdict:
        scene = Scene()
        dr_arp(scene)
        for index, server in enumerate(servers):
            ways = lasting(dr_request_to(server)), lasting(dr_reply_from(server))
            build.association(scene, *ways, VIP, CLIENT_PORT + index)
        return results(scene, heavy_first, answers=servers)["scheduler"].verdict

    assert verdict("rs1", "rs2", "rs1") is Verdict.PASS
    assert verdict(*heavy) is Verdict.FAIL
