"""A script for plain Mininet is Python whose Topo class wires the topology that was meant, as Mininet reads it."""

from __future__ import annotations

import ast
import shlex
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lvslab.cli.main import main
from lvslab.exporting.mininet import mininet_script
from lvslab.plan.make import make_plan
from lvslab.plan.steps import MakeLink
from lvslab.topology import load_topology, shipped
from lvslab.topology.model import Topology

MODULE = "exported"
NAMED_AS_SWITCHES = """\
name: mine
networks: {outside: 203.0.113.0/24, inside: 10.1.0.0/24}
nodes:
  s1: {role: client, on: {outside: 9}, gateway: s3}
  s3: {role: director, on: {outside: 1, inside: 1}}
  s4: {role: real-server, on: {inside: 2}, gateway: s3}
services:
  - {vip: 203.0.113.100, port: 80, method: nat, scheduler: rr, servers: [s4]}
"""


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


def test_hosts_and_switches_never_share_a_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(NAMED_AS_SWITCHES)
    script = mininet_script(load_topology(str(path)))
    names = names_of(script)
    topo = names["MineTopo"]()
    assert set(topo.hosts()) == {"s1", "s3", "s4"}
    assert topo.switches() == ["s2", "s5"]
    assert 'run(net["s2"], PORTS)' in script


@pytest.mark.parametrize("name", shipped())
def test_each_hosts_commands_are_shell(name: str) -> None:
    names = names_of(mininet_script(load_topology(name)))
    for script in (names["PORTS"], *(names["BASELINE"] + each for each in names["HOSTS"].values())):
        assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


KEY = "net.ipv4.ip_forward"
TRICKY = st.text(st.sampled_from("\"'\\\n\r\0\u2028\U0001f600N{}u #a"))


@cache
def plain_topology() -> Topology:
    return load_topology("dr")


def with_texts(title: str, value: str) -> Topology:
    """Return a topology with the two texts that its author is free to choose."""
    plain = plain_topology()
    client, *others = plain.nodes
    return replace(plain, title={"en": title}, nodes=(replace(client, sysctls=((KEY, value),)), *others))


def statements(script: str) -> list[str]:
    """Return what the script does, as Python reads it: all but its docstring."""
    docstring, *others = ast.parse(script).body
    assert isinstance(docstring, ast.Expr)
    return [ast.dump(each) for each in others]


@settings(deadline=None)
@given(title=st.text() | TRICKY, value=st.text() | TRICKY)
@example(title='x"""\nimport os\n"""', value='"""\nimport os\nr"""')
@example(title="\\", value="\\")
def test_no_text_of_a_topology_becomes_a_statement(title: str, value: str) -> None:
    plain, script = mininet_script(with_texts("plain", "7")), mininet_script(with_texts(title, value))
    (lines,) = {each for each in names_of(plain)["HOSTS"].values() if f"{KEY}=7" in each}
    chosen = lines.replace(f"{KEY}=7", shlex.quote(f"{KEY}={value}"))
    assert statements(script) == [each.replace(repr(lines), repr(chosen)) for each in statements(plain)]


@pytest.mark.parametrize("name", ["4-servers", "dr", "a-9"])
def test_the_class_has_a_name(name: str) -> None:
    names = names_of(mininet_script(replace(load_topology("dr"), name=name)))
    assert any(key.endswith("Topo") and key != "Topo" for key in names)


def test_ports_are_set_by_the_names_that_mininet_gives_them() -> None:
    topology = load_topology("dr-mtu")
    (narrow,) = [number for number, network in enumerate(topology.networks, 1) if network.name == "narrow"]
    lines = names_of(mininet_script(topology))["PORTS"].split("\n")
    assert f"ip link set s{narrow}-eth1 mtu 1300" in lines


def test_a_file_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text("mine")
    with pytest.raises(SystemExit) as left:
        main(["export", "mininet", "dr", "-o", str(path)])
    assert left.value.code == 2
    assert "there is something already" in capsys.readouterr().err
    assert path.read_text() == "mine"
