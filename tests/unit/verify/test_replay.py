"""Schedulers that count connections: judged by replaying the capture through the service's model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lvslab.topology.model import Topology
from lvslab.verify.result import Result, Verdict
from tests.unit.verify import scenes
from tests.unit.verify.scenes import DR, dr_reply_from, dr_request_to, dr_scene, evidence, judged, paused, topology
from tests.unit.walk import build
from tests.unit.walk.build import Scene, Way


def with_scheduler(name: str, weights: str = "[1, 1]") -> Topology:
    return topology(DR.replace("scheduler: rr", f"scheduler: {name}, weights: {weights}"), servers=2)


def never_ending(way: Way) -> Way:
    """The same way, but a FIN does not take it."""

    def shortened(scene: Scene, packet: Any) -> None:
        if "F" not in str(packet.payload.flags):
            way(scene, packet)

    return shortened


def result(model: Topology, *servers: str, ended: bool = True, used: bool = False) -> Result:
    ways = [(dr_request_to(server), dr_reply_from(server)) for server in servers]
    scene = dr_scene(*(ways if ended else [(never_ending(ask), never_ending(answer)) for ask, answer in ways]))
    outcomes = scenes.answered(*servers, vip=build.DR_VIP)
    return judged(evidence(model, scene, outcomes=outcomes, used=used))["scheduler"]


@pytest.mark.parametrize("name", ["lc", "wlc"])
def test_inactive_connections_count(name: str) -> None:
    assert result(with_scheduler(name), "rs2", "rs1", "rs2").verdict is Verdict.PASS
    wrong = result(with_scheduler(name), "rs2", "rs2", "rs1")
    assert (wrong.verdict, wrong.where) == (Verdict.FAIL, "director")
    assert "number 2, went to rs2, not to rs1" in wrong.seen


def test_a_connection_is_active_until_its_fin() -> None:
    heavy_first = with_scheduler("sed", "[2, 1]")
    assert result(heavy_first, "rs1", "rs1", "rs1").verdict is Verdict.PASS
    assert result(heavy_first, "rs1", "rs2", "rs1", ended=False).verdict is Verdict.PASS
    assert result(heavy_first, "rs1", "rs1", "rs1", ended=False).verdict is Verdict.FAIL


def test_a_clients_rst_ends_only_what_was_established() -> None:
    def opening_and_reset(way: Way) -> Way:
        def only(scene: Scene, packet: Any) -> None:
            flags = str(packet.payload.flags)
            if flags == "FA":
                packet.payload.flags = "R"
            if flags in ("S", "FA"):
                way(scene, packet)

        return only

    def silence(scene: Scene, packet: Any) -> None:
        """No reply at all."""

    heavy_first = with_scheduler("sed", "[2, 1]")
    scene = dr_scene(*[(opening_and_reset(dr_request_to(server)), silence) for server in ("rs1", "rs2")])
    outcomes = scenes.failed("ETIMEDOUT", build.CLIENT_PORT, build.CLIENT_PORT + 1, vip=build.DR_VIP)
    assert judged(evidence(heavy_first, scene, outcomes=outcomes))["scheduler"].verdict is Verdict.PASS


def test_thresholds_are_kept_by_cyclic_schedulers_too() -> None:
    model = topology(DR, servers=2)
    (service,) = model.services
    limited = tuple(replace(item, upper_threshold=1) if item.node == "rs2" else item for item in service.destinations)
    model = replace(model, services=(replace(service, destinations=limited),))
    assert result(model, "rs2", "rs1", "rs1").verdict is Verdict.PASS
    assert result(model, "rs2", "rs1", "rs2").verdict is Verdict.FAIL


@pytest.mark.parametrize(("name", "verdict"), [("wlc", Verdict.SKIP), ("lblc", Verdict.SKIP), ("fo", Verdict.PASS)])
def test_what_depends_on_earlier_connections_is_judged_only_where_there_were_none(name: str, verdict: Verdict) -> None:
    assert result(with_scheduler(name), "rs2").verdict is Verdict.PASS
    assert result(with_scheduler(name), "rs2", used=True).verdict is verdict


@pytest.mark.parametrize("name", ["rr", "lc"])
def test_a_persistent_service_is_asked_once_and_its_template_decides_the_others(name: str) -> None:
    model = topology(DR.replace("scheduler: rr", f"scheduler: {name}, persistence: 60"), servers=2)
    passed = result(model, "rs2", "rs2", "rs2")
    assert (passed.verdict, passed.seen) == (Verdict.PASS, "1 client scheduled, the others by template: rs2, rs2, rs2")
    assert result(model, "rs2", "rs2", "rs1").verdict is Verdict.FAIL
    assert result(model, "rs1", "rs1").verdict is Verdict.FAIL
    assert result(model, "rs2", used=True).cause == "a template of earlier traffic may decide where a client goes"


@pytest.mark.parametrize("name", ["dh", "sh", "mh"])
def test_hashes_are_judged_wherever_they_are_used(name: str) -> None:
    verdicts = {server: result(with_scheduler(name), server, used=True).verdict for server in ("rs1", "rs2")}
    assert set(verdicts.values()) == {Verdict.PASS, Verdict.FAIL}


def test_in_long_traffic_connections_may_have_left_the_table() -> None:
    capture = dr_scene(*[(dr_request_to(server), dr_reply_from(server)) for server in ("rs2", "rs1")]).capture()
    outcomes = scenes.answered("rs2", "rs1", vip=build.DR_VIP)
    found = evidence(with_scheduler("lc"), paused(capture, 11), outcomes=outcomes)
    assert judged(found)["scheduler"].cause == "in more than 10 s connections may have left the table"
