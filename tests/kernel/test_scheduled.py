"""Every scheduler in a whole lab: verify judges it, predict knew it before."""

from __future__ import annotations

import json

import pytest

from lvslab.ipvs.schedulers import MODELS
from lvslab.ipvs.schedulers.forecast import flows, forecast, service_of_topology
from lvslab.verify.result import Verdict
from tests.kernel.running_support import this_user
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

LAB = "predicted"


@pytest.mark.parametrize("topology", ["dr", "nat", "tun"])
@pytest.mark.parametrize("scheduler", MODELS["kernel"])
def test_verify_and_predict_agree_with_the_kernel(open_lab_in: OpenLab, topology: str, scheduler: str) -> None:
    with open_lab_in(topology, real_servers=3, scheduler=scheduler) as lab:
        examination = lab.examine()
        outcomes = examination.evidence.outcomes
        (service,) = lab.topology.services
        client = lab.node("client").node.own_addresses[0]
    results = {item.name: item for item in examination.result.expectations}
    assert results["scheduler"].verdict is Verdict.PASS, results["scheduler"]
    assert outcomes
    connections = flows(len(outcomes), [client], [service.vip])
    choices = forecast(service_of_topology(service), connections, ended=True)
    assert [choice.server.name if choice.server else None for choice in choices] == [item.server for item in outcomes]


@pytest.mark.parametrize(("scheduler", "told"), [("wlc", True), ("rr", False)])
def test_a_lab_that_is_up_is_predicted_as_far_as_its_table_tells(kernel_kind: str, scheduler: str, told: bool) -> None:
    world = this_user(kernel_kind)
    options = ("--set", f"scheduler={scheduler}", "--set", "real_servers=3")
    assert world.run("up", "dr", "--name", LAB, "--kernel", kernel_kind, *options).returncode == 0
    try:
        fresh = world.run("predict", "--lab", LAB, "-n", "4", "--ended", "--json", "-")
        called = world.run("exec", "--lab", LAB, "client", "--", "curl", "-s", "http://198.18.0.10/")
        later = world.run("predict", "--lab", LAB, "-n", "2", "--ended", "--json", "-")
        next_called = world.run("exec", "--lab", LAB, "client", "--", "curl", "-s", "http://198.18.0.10/")
    finally:
        world.run("down", LAB)
    assert servers(fresh.stdout)[0] == called.stdout.split()[0]
    if told:
        assert servers(later.stdout)[0] == next_called.stdout.split()[0] == servers(fresh.stdout)[1]
    else:
        assert later.returncode == 2
        assert f"what {scheduler} remembers of earlier connections" in later.stderr


def servers(text: str) -> list[str]:
    (service,) = json.loads(text)["services"]
    return [step["server"] for step in service["steps"]]
