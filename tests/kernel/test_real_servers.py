"""How many real servers, which weights, and a real web server behind the VIP."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lvslab.traffic.ports import FIRST_PORT
from lvslab.verify.result import Verdict
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

NGINX_AND_BUILTIN = """
name: nginx
networks: {outside: 203.0.113.0/24, inside: 198.18.0.0/24}
nodes:
  client: {role: client, on: {outside: 10}}
  director: {role: director, on: {outside: 2, inside: 1}}
  rs1: {role: real-server, on: {inside: 11}, server: nginx}
  rs2: {role: real-server, on: {inside: 12}}
services:
  - {vip: 203.0.113.100, port: 80, method: nat, scheduler: rr, servers: [{node: rs*, port: 8080}]}
"""

WEIGHTED = """
name: weighted
networks: {net: 198.18.0.0/24}
nodes:
  client: {role: client, on: {net: 10}}
  director: {role: director, on: {net: 1}}
  rs[1-3]: {role: real-server, on: {net: 11+}}
services:
  - {vip: 198.18.0.100, port: 80, method: dr, scheduler: wrr, weights: [4, 3, 2], servers: rs*}
"""


def test_nginx_answers_in_the_node_that_asks_for_it(open_lab_in: OpenLab, tmp_path: Path) -> None:
    file = tmp_path / "nginx.yaml"
    file.write_text(NGINX_AND_BUILTIN)
    with open_lab_in(file) as lab:
        result = lab.verify()
        assert result.verdict is Verdict.PASS, result.expectations
        answers = [lab.node("client").run("curl", "-si", "http://203.0.113.100/").output for _ in range(2)]
    said = {answer.partition("\n\n")[2].split()[0]: answer.lower() for answer in answers}
    assert "server: nginx/" in said["rs1"]
    assert "server: lvslab" in said["rs2"]


@pytest.mark.parametrize("topology", ["dr", "nat"])
def test_sixty_four_servers_pass(open_lab_in: OpenLab, topology: str) -> None:
    with open_lab_in(topology, real_servers=64) as lab:
        result = lab.verify()
        assert result.verdict is Verdict.PASS, result.expectations
        (entry,) = lab.ipvs("director").services()
    assert {(item.active + item.inactive) for item in entry.destinations} == {2, 3}
    assert len(entry.destinations) == 64


@pytest.mark.parametrize("topology", ["dr", "nat", "tun"])
def test_two_hundred_and_fifty_six_servers_can_be_built_and_reached(open_lab_in: OpenLab, topology: str) -> None:
    with open_lab_in(topology, real_servers=256) as lab:
        (service,) = lab.topology.services
        outcomes = lab.node("client").get(str(service.vip), service.port, times=256, first_port=FIRST_PORT)
    assert Counter(outcome.server for outcome in outcomes) == {f"rs{number}": 1 for number in range(1, 257)}


def test_weights_decide_as_the_model_of_wrr_says(open_lab_in: OpenLab, tmp_path: Path) -> None:
    file = tmp_path / "weighted.yaml"
    file.write_text(WEIGHTED)
    with open_lab_in(file) as lab:
        examination = lab.examine()
    (scheduler,) = [item for item in examination.result.expectations if item.name == "scheduler"]
    assert scheduler.verdict is Verdict.PASS, scheduler
    outcomes = examination.evidence.outcomes
    assert outcomes is not None
    # Two turns of 4 + 3 + 2 connections, and one more.
    assert len(outcomes) == 19
    assert Counter(outcome.server for outcome in outcomes[1:10]) == {"rs1": 4, "rs2": 3, "rs3": 2}
