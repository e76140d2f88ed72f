"""Persistence, judged without a kernel: one client, one server."""

from __future__ import annotations

import pytest

from lvslab.verify.result import Verdict
from tests.unit.verify.scenes import DR, dr_reply_from, dr_request_to, dr_scene, evidence, judged, topology

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


def test_a_service_that_is_not_persistent_has_no_such_expectation() -> None:
    scene = dr_scene((dr_request_to("rs1"), dr_reply_from("rs1")))
    assert judged(evidence(topology(DR, servers=2), scene)).keys().isdisjoint({"persistence", "datagrams", "ftp"})
