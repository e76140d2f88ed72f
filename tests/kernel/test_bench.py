"""Benchmarks at their smallest: they run on a real kernel, and what they compare is the same work."""

from __future__ import annotations

import pytest

from lvslab.bench import build, capture, director, verdict
from lvslab.bench.batch import batch_script, removal_script
from lvslab.bench.contestants import freed
from lvslab.bench.in_kernel import run_text
from lvslab.kernels.start import RunningKernel
from lvslab.plan import make_plan
from lvslab.topology import load_topology
from tests.kernel.state import differences, read_state
from tests.kernel.support import OpenLab, run_outside

pytestmark = pytest.mark.kernel


def test_ip_batch_builds_what_the_backend_builds(kernel: RunningKernel, open_lab_in: OpenLab) -> None:
    topology = load_topology("dr", params={"real_servers": 1})
    plan = make_plan(topology)
    with open_lab_in(topology):
        applied = read_state(kernel)
    run_text(kernel, batch_script(plan))
    try:
        assert differences(applied, read_state(kernel)) == {}
    finally:
        run_text(kernel, removal_script(plan))
    assert run_outside(kernel, "ls", "/run/netns").output == ""


def test_a_namespace_that_is_gone_has_been_freed(kernel: RunningKernel) -> None:
    with freed(kernel) as wait:
        run_text(kernel, "ip netns add gone; ip netns delete gone")
        wait()
    assert run_outside(kernel, "ls", "/run/netns").output == ""


def test_building_is_measured_in_all_ways() -> None:
    benchmark = build.run(build.Settings(sizes=(1, 2), rounds=1, mininet_most=0))
    (part,) = benchmark.parts
    assert {each.key for each in part.ratios} == {"netns_over_ip_batch", "netns_over_floor"}
    assert set(part.readings) == {
        f"{name}-{size}-{what}"
        for name in ("netns", "ip_batch", "floor", "whole")
        for size in (1, 2)
        for what in ("build_s", "remove_s")
    }
    assert all(value > 0 for values in part.readings.values() for value in values)


def test_all_recorders_record_all_of_a_slow_flood_and_say_what_it_cost() -> None:
    benchmark = capture.run(capture.Settings(rates=(50,), seconds=0.5, rounds=1))
    (part,) = benchmark.parts
    assert [row[0] for row in part.rows] == ["lvslab", "tcpdump", "scapy"]
    assert part.values["lvslab_lossless"] > 0
    assert part.values["tcpdump_lossless"] > 0


def test_packets_pass_the_director_by_each_method_and_a_cluster_is_verified() -> None:
    benchmark = director.run(director.Settings(packets=200, rounds=1, servers=2))
    packets, cluster = benchmark.parts
    assert packets.readings.keys() == {"routed", "nat", "dr", "tun"}
    assert all(value > 0 for values in packets.readings.values() for value in values)
    assert cluster.rows[0][:2] == (2, 5)


def test_a_verdict_is_timed_by_phases_that_make_up_the_whole(kernel_kind: str) -> None:
    seconds = verdict.timed(kernel_kind, "dr")
    whole = seconds.pop("whole")
    assert sum(seconds.values()) == pytest.approx(whole)
    assert min(seconds.values()) > 0
    assert seconds.keys() == {"start", *verdict.PHASES}
