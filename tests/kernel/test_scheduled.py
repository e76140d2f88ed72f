"""Every scheduler in a whole lab: verify judges it, predict knew it before."""

from __future__ import annotations

import json

import pytest

from lvslab.ipvs.schedulers import MODELS
from lvslab.ipvs.schedulers.forecast import flows, forecast, service_of_topology
from lvslab.traffic.drive import clients_of
from lvslab.verify.result import Verdict
from tests.kernel.running_support import World, this_user
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

LAB = "predicted"


@pytest.mark.parametrize("topology", ["dr", "nat", "sctp", "tun"])
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


@pytest.mark.parametrize("prefix", [32, 28])
@pytest.mark.parametrize("scheduler", MODELS["kernel"])
def test_a_persistent_service_is_predicted_per_client(open_lab_in: OpenLab, scheduler: str, prefix: int) -> None:
    with open_lab_in("persistence", scheduler=scheduler, prefix=prefix) as lab:
        examination = lab.examine()
        outcomes = examination.evidence.outcomes
        (service,) = lab.topology.services
        clients = [address for _, address in clients_of(lab.topology, service)]
    results = {item.name: item.verdict for item in examination.result.expectations}
    assert (results["scheduler"], results["persistence"]) == (Verdict.PASS, Verdict.PASS)
    assert outcomes
    connections = flows(len(outcomes), clients, [service.vip])
    choices = forecast(service_of_topology(service), connections, ended=True)
    assert [choice.server.name if choice.server else None for choice in choices] == [item.server for item in outcomes]


def test_templates_of_a_lab_that_is_up_are_read_from_its_table(kernel_kind: str) -> None:
    """Where rr is in its cycle nobody can read; but once every client has a template nobody needs to."""
    world = this_user(kernel_kind)
    assert world.run("up", "persistence", "--name", LAB, "--kernel", kernel_kind).returncode == 0
    try:
        fresh = world.run("predict", "--lab", LAB, "-n", "4", "--json", "-")
        called = [ask_as(world, f"client{number}") for number in (3, 1)]
        unknown = world.run("predict", "--lab", LAB, "-n", "4")
        called += [ask_as(world, f"client{number}") for number in (2, 4)]
        known = world.run("predict", "--lab", LAB, "-n", "4", "--json", "-")
        again = [ask_as(world, f"client{number}") for number in (1, 2, 3, 4)]
    finally:
        world.run("down", LAB)
    assert servers(fresh.stdout) == called == ["rs3", "rs2", "rs1", "rs3"]
    assert (unknown.returncode, "what rr remembers" in unknown.stderr) == (2, True)
    assert servers(known.stdout) == again == ["rs2", "rs1", "rs3", "rs3"]


def ask_as(world: World, client: str) -> str:
    return world.run("exec", "--lab", LAB, client, "--", "curl", "-s", "http://198.18.0.10/").stdout.split()[0]


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


def test_a_scheduler_changed_by_hand_is_the_one_that_is_named(kernel_kind: str) -> None:
    world = this_user(kernel_kind)
    assert world.run("up", "dr", "--name", LAB, "--kernel", kernel_kind).returncode == 0
    try:
        edited = world.run("exec", "--lab", LAB, "director", "--", "ipvsadm", "-E", "-t", "vip:80", "-s", "lc")
        predicted = world.run("predict", "--lab", LAB, "-n", "2", "--json", "-")
    finally:
        world.run("down", LAB)
    assert edited.returncode == 0
    (service,) = json.loads(predicted.stdout)["services"]
    assert service["scheduler"] == "lc"


def servers(text: str) -> list[str]:
    (service,) = json.loads(text)["services"]
    return [step["server"] for step in service["steps"]]
