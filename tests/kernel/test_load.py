"""Load through shaped cards: no card lets more through than its rate, in either direction.

How near to it the sum comes depends on the machine, except in virtual time: see test_virtual_load.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.errors import BadInput
from lvslab.kernels.start import RunningKernel
from tests.kernel.support import OpenLab, run_script

pytestmark = pytest.mark.kernel

DR = """
name: shaped-dr
params: {rate: 2mbit}
networks: {outside: 203.0.113.0/24, inside: 198.18.0.0/24}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, inside: 1}}
  director: {role: director, on: {inside: 2}, rate: "{{ rate }}"}
  rs[1-3]: {role: real-server, on: {inside: 11+}, rate: "{{ rate }}"}
services:
  - {vip: 198.18.0.100, port: 80, method: dr, scheduler: rr, servers: rs*}
"""
VIP = "198.18.0.100"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shaped.yaml"
    path.write_text(DR)
    return path


def test_each_server_gives_no_more_than_its_card_carries(
    kernel: RunningKernel, open_lab_in: OpenLab, path: Path
) -> None:
    with open_lab_in(path) as lab:
        result = lab.node("client").load(VIP, connections=6, seconds=2)
        sent = run_script(kernel, "tc -s -n rs1 qdisc show dev eth0").output
    assert [share.server for share in result.shares] == ["rs1", "rs2", "rs3"]
    assert [share.connections for share in result.shares] == [2, 2, 2]
    assert result.failures == {}
    assert result.seconds >= 2
    for share in result.shares:
        assert 0 < 8 * share.bytes / result.seconds <= 2_000_000
    on_the_wire = int(sent.split("Sent ")[1].split(" bytes")[0])
    assert on_the_wire > result.shares[0].bytes


def test_answers_of_a_given_size_follow_one_another(open_lab_in: OpenLab, path: Path) -> None:
    with open_lab_in(path, rate="unlimited") as lab:
        result = lab.node("client").load(VIP, connections=3, seconds=0.5, answer_bytes=10_000)
    assert sum(share.connections for share in result.shares) > 3
    assert result.bytes > 0


def test_a_service_without_servers_is_all_failures(open_lab_in: OpenLab, path: Path) -> None:
    with open_lab_in(path, without=["server"]) as lab:
        result = lab.node("client").load(VIP, connections=3, seconds=0.3)
    assert result.shares == ()
    assert result.failures.keys() == {"ECONNREFUSED"}


@pytest.mark.parametrize(
    ("address", "connections", "seconds", "warm_up_s"),
    [(VIP, 0, 1, 0), (VIP, 1, 1, 1), (VIP, 1, 0, 0), (VIP, 1, 1, -1), ("2001:db8::1", 1, 1, 0)],
)
def test_what_measures_nothing_is_refused(
    open_lab_in: OpenLab, path: Path, address: str, connections: int, seconds: float, warm_up_s: float
) -> None:
    with open_lab_in(path) as lab, pytest.raises(BadInput):
        lab.node("client").load(address, connections=connections, seconds=seconds, warm_up_s=warm_up_s)
