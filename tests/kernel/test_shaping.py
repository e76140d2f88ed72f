"""Shaped cards in a kernel: what tc says of both ends, and what no packet can be faster than."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab
from tests.kernel.support import OpenLab, run_script

pytestmark = pytest.mark.kernel

SHAPED = """
name: shaped
networks: {outside: {subnets: 203.0.113.0/24, delay: 30ms}, inside: {subnets: 198.18.0.0/24, rate: 4mbit}}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, inside: 1}, rate: {inside: unlimited}, delay: 0ms}
  director: {role: director, on: {inside: 2}}
  rs[1-2]: {role: real-server, on: {inside: 11+}, rate: 2mbit}
services:
  - {vip: 198.18.0.100, port: 80, method: dr, scheduler: rr, servers: rs*}
traffic: {answer_bytes: 50000}
"""
DELAY_S = 0.03
RATE_BIT_S = 2_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shaped.yaml"
    path.write_text(SHAPED)
    return path


def qdiscs(kernel: RunningKernel, namespace: str, device: str) -> list[dict[str, Any]]:
    """Return what `tc -s` says of a device."""
    text = run_script(kernel, f"tc -j -s -n {namespace} qdisc show dev {device}").output
    return [dict(each) for each in json.loads(text)]


SHAPES = (
    ("rs1", "eth0", 2_000_000, 0),
    ("sw-inside", "rs1", 2_000_000, 0),
    ("director", "eth0", 4_000_000, 0),
    ("sw-inside", "director", 4_000_000, 0),
    ("client", "eth0", None, DELAY_S),
    ("sw-outside", "client", None, DELAY_S),
)
UNSHAPED = (("router", "eth0"), ("router", "eth1"), ("sw-inside", "router"), ("sw-outside", "router"))


def test_tc_finds_each_end_of_a_cable_shaped_as_the_file_says(
    kernel: RunningKernel, open_lab_in: OpenLab, path: Path
) -> None:
    with open_lab_in(path) as lab:
        lab.node("client").get("198.18.0.100", times=2)
        for namespace, device, bit_s, delay_s in SHAPES:
            (found,) = qdiscs(kernel, namespace, device)
            options = found["options"]
            assert found["kind"] == "netem"
            rate = options.get("rate")
            assert (None if rate is None else 8 * rate["rate"]) == bit_s, found
            delay = options.get("delay")
            assert (0 if delay is None else delay["delay"]) == delay_s, found
            assert found["packets"] > 0, found
        for namespace, device in UNSHAPED:
            assert [found["kind"] for found in qdiscs(kernel, namespace, device)] == ["noqueue"]


def test_an_answer_takes_its_bytes_over_the_rate_and_twice_the_delay(open_lab_in: OpenLab, path: Path) -> None:
    """Connect and question are two round trips, and the last full queue of the answer is still to be sent then."""
    with open_lab_in(path) as lab:
        outcomes = lab.node("client").get("198.18.0.100", times=2)
    assert sorted(outcome.server for outcome in outcomes) == ["rs1", "rs2"]
    for outcome in outcomes:
        assert outcome.seconds >= 4 * DELAY_S + 8 * len(outcome.answer) / RATE_BIT_S


def test_what_the_answers_weigh_leaves_through_the_servers_cards(
    kernel: RunningKernel, open_lab_in: OpenLab, path: Path
) -> None:
    with open_lab_in(path) as lab:
        weight = {outcome.server: len(outcome.answer) for outcome in lab.node("client").get("198.18.0.100", times=2)}
        for server in ("rs1", "rs2"):
            (sent,), (received,) = qdiscs(kernel, server, "eth0"), qdiscs(kernel, "sw-inside", server)
            assert sent["bytes"] > weight[server] > received["bytes"]


def test_a_shaped_lab_is_judged_like_any_other(open_lab_in: OpenLab, path: Path) -> None:
    with open_lab_in(path) as lab:
        assert verdicts(lab) == {"pass"}


def verdicts(lab: Lab) -> set[str]:
    return {str(expectation.verdict) for expectation in lab.verify().expectations}


def test_nothing_shaped_stays_behind(kernel: RunningKernel, open_lab_in: OpenLab, path: Path) -> None:
    with open_lab_in(path):
        assert "netem" in run_script(kernel, "tc -n rs1 qdisc show").output
    assert run_script(kernel, "ls /run/netns; tc qdisc show | grep -c netem").output.split() == ["0"]
