"""Persistence, judged without a kernel: one client, one server."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import pytest

from lvslab.ipvs.model import Connection, Stats
from lvslab.verify.result import Verdict
from tests.unit.verify.scenes import (
    DR,
    dr_reply_from,
    dr_request_to,
    dr_scene,
    evidence,
    judged,
    paused,
    table,
    topology,
)
from tests.unit.walk import build

STICKY = DR.replace("scheduler: rr", "scheduler: rr, persistence: 60")


@pytest.mark.parametrize(
    ("servers", "verdict", "seen"),
    [
        (("rs1", "rs1", "rs1"), Verdict.PASS, "3 connections of 1 client: 198.51.100.10 rs1"),
        (("rs1", "rs1", "rs2"), Verdict.FAIL, "198.51.100.10 went to rs1, and 0.0 s later to rs2"),
        (("rs1",), Verdict.SKIP, ""),
    ],
)
def test_a_client_stays_with_its_server(servers: tuple[str, ...], verdict: Verdict, seen: str) -> None:
    scene = dr_scene(*((dr_request_to(server), dr_reply_from(server)) for server in servers))
    result = judged(evidence(topology(STICKY, servers=2), scene))["persistence"]
    assert result.verdict is verdict
    assert seen in result.seen


def template_for(server: str) -> Connection:
    model = topology(STICKY, servers=2)
    address = model.node(server).own_addresses[0]
    client, vip = ip_address(build.CLIENT), ip_address(build.DR_VIP[0])
    return Connection("TCP", client, 0, vip, 80, address, 80, "ASSURED", 59)


@pytest.mark.parametrize(
    ("pause_s", "held", "verdict"),
    [
        (59, "rs2", Verdict.FAIL),
        (60, "rs2", Verdict.PASS),
        (60, "rs1", Verdict.FAIL),
    ],
    ids=["before the template expires", "after it", "but the table has the old one"],
)
def test_a_client_may_be_scheduled_anew_once_its_template_has_expired(
    pause_s: int, held: str, verdict: Verdict
) -> None:
    scene = dr_scene(*((dr_request_to(server), dr_reply_from(server)) for server in ("rs1", "rs2")))
    model = topology(STICKY, servers=2)
    tables = table(model, Stats(), 1, 1)
    tables["director"] = replace(tables["director"], connections=(template_for(held),))
    found = evidence(model, paused(scene.capture(), pause_s), tables=tables)
    assert judged(found)["persistence"].verdict is verdict


def test_a_service_that_is_not_persistent_has_no_such_expectation() -> None:
    scene = dr_scene((dr_request_to("rs1"), dr_reply_from("rs1")))
    assert judged(evidence(topology(DR, servers=2), scene)).keys().isdisjoint({"persistence", "datagrams", "ftp"})
