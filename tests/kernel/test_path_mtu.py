"""Path MTU topologies in detail: who is told what by whom, and pieces, with tcpdump as the witness."""

from __future__ import annotations

from typing import Any

import pytest

from lvslab.verify.result import Verdict
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

OUTER = "id [0-9]*, offset [0-9]*, flags [^,]*, proto IPIP"
TOLD = [
    ("tun-mtu", {}, "client was told of MTU 1480 (director → router → client)"),
    ("tun-mtu", {"servers_mtu": 1400}, "client was told of MTU 1480, then 1380 (director → router → client)"),
    ("dr-mtu", {}, "rs2 was told of MTU 1300 (router → director → rs2)"),
    ("dr-mtu", {"method": "tun"}, "rs2 was told of MTU 1300 (router → director → rs2)"),
    ("dr-mtu", {"method": "nat"}, "rs2 was told of MTU 1300 (router → director → rs2)"),
]


@pytest.mark.parametrize(("topology", "params", "told"), TOLD)
def test_the_sender_is_told(open_lab_in: OpenLab, topology: str, params: dict[str, Any], told: str) -> None:
    with open_lab_in(topology, **params) as lab:
        results = {item.name: item for item in lab.verify().expectations}
    assert {item.name for item in results.values() if item.verdict is not Verdict.PASS} == set()
    assert told in results["path-mtu"].seen


def test_tcpdump_sees_the_pieces_that_a_walk_puts_together(open_lab_in: OpenLab) -> None:
    with open_lab_in("tun-mtu-pieces") as lab:
        router = lab.node("router")
        listening = "timeout 8 tcpdump -lnni eth2 -w /run/pieces.pcap 'ip[6:2] & 0x3fff != 0'"
        assert router.run("bash", "-c", f"{listening} >/dev/null 2>&1 </dev/null & sleep 1").status == 0
        examination = lab.examine()
        router.run("sleep", "8")
        seen = router.run("bash", "-c", f"tcpdump -nnvr /run/pieces.pcap 2>/dev/null | grep -o '{OUTER}'")
    walks = examination.evidence.walks.walks
    passed = [
        (piece.identification, piece.offset)
        for walk in walks
        for hop in walk.at("router")
        if hop.interface == "eth2" and hop.frame.fragments
        for piece in hop.frame.fragments
    ]
    dumped = [tuple(int(word) for word in line.replace(",", "").split()[1:4:2]) for line in seen.output.splitlines()]
    assert passed
    assert sorted(passed) == sorted(dumped)


def test_a_tunnel_device_that_merges_what_it_received_is_no_failure_of_the_clusters(open_lab_in: OpenLab) -> None:
    """With GRO the capture shows what no wire carried: that cannot be judged (docs/decisions/receive-offload.md)."""
    with open_lab_in("tun-mtu") as lab:
        for server in ("rs1", "rs2"):
            off = lab.node(server).run("ethtool", "-k", "tunl0").output
            assert "generic-receive-offload: off" in off
            assert lab.node(server).run("ethtool", "-K", "tunl0", "gro", "on").status == 0
        examination = lab.examine()
    assert examination.result.verdict is not Verdict.PASS
    assert "fail" not in {str(item.verdict) for item in examination.result.expectations}
