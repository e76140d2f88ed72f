"""A script for plain Mininet is Python whose Topo class wires the topology that was meant, as Mininet reads it."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from lvslab.exporting.mininet import mininet_script
from lvslab.plan.make import make_plan
from lvslab.plan.steps import MakeLink
from lvslab.topology import load_topology, shipped

MODULE = "exported"


def names_of(script: str) -> dict[str, Any]:
    """Run the script as a module: what it would do as a program it does not."""
    names: dict[str, Any] = {"__name__": MODULE}
    exec(compile(script, MODULE, "exec"), names)
    return names


@pytest.mark.parametrize("name", shipped())
def test_mininet_sees_every_cable(name: str) -> None:
    topology = load_topology(name)
    names = names_of(mininet_script(topology))
    (topo_class,) = [
        each for each in names.values() if getattr(each, "__module__", "") == MODULE and hasattr(each, "build")
    ]
    topo = topo_class()
    switches = {f"s{number}": f"sw-{network.name}" for number, network in enumerate(topology.networks, 1)}
    wired = {
        (host, facts["intfName1"], facts["addr1"], switches[switch])
        for host, switch, facts in topo.links(withInfo=True)
    }
    links = [step for step in make_plan(topology).steps if isinstance(step, MakeLink)]
    assert wired == {(step.node, step.interface, step.mac, step.switch) for step in links}
    assert set(topo.hosts()) == set(names["HOSTS"]) == {node.name for node in topology.nodes}
    assert set(topo.switches()) == set(switches)


@pytest.mark.parametrize("name", shipped())
def test_each_hosts_commands_are_shell(name: str) -> None:
    names = names_of(mininet_script(load_topology(name)))
    for script in (names["PORTS"], *(names["BASELINE"] + each for each in names["HOSTS"].values())):
        assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


def test_ports_are_set_by_the_names_that_mininet_gives_them() -> None:
    topology = load_topology("dr-mtu")
    (narrow,) = [number for number, network in enumerate(topology.networks, 1) if network.name == "narrow"]
    lines = names_of(mininet_script(topology))["PORTS"].split("\n")
    assert f"ip link set s{narrow}-eth1 mtu 1300" in lines
