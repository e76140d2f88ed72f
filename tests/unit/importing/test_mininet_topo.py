"""A Mininet Topo class with roles named becomes a topology; what it cannot be is said."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lvslab.errors import BadInput
from lvslab.importing.mininet_topo import Service, topo_text
from lvslab.mininet.topo import read_topo
from lvslab.topology import load_text
from lvslab.topology.limits import SCHEDULERS
from lvslab.topology.model import Role, Topology
from lvslab.topology.wording import one_of

HEAD = """\
from mininet.topo import Topo

class Made(Topo):
    def build(self):
        s1, s2 = map(self.addSwitch, ('s1', 's2'))
"""
TWO_NETWORKS = """
        self.addLink(self.addHost('desk', ip='10.1.0.1/24', defaultRoute='via 10.1.0.254'), s1, bw=10, delay='5ms')
        self.addLink(self.addHost('r0', ip='10.1.0.254/24'), s1)
        self.addLink('r0', s2, params1={'ip': '10.2.0.254/24'})
        for number in (1, 2, 3):
            self.addLink(self.addHost(f'h{number}', ip=f'10.2.0.{number}/24'), s2)
        print('built')
"""
ROLES = {"client": ["desk"], "router": ["r0"], "director": ["h1"], "real-server": ["h[23]"]}
SERVICE = Service("10.2.0.100", 80, "dr", "wlc")


def imported(
    folder: Path, build: str, roles: Mapping[str, Sequence[str]] = ROLES, service: Service = SERVICE
) -> tuple[Topology, tuple[str, ...]]:
    path = folder / "made.py"
    path.write_text(HEAD + build)
    text, notes = topo_text(read_topo(path, "Made"), roles, service)
    return load_text(text, "made"), notes


def test_hosts_get_their_roles_and_their_addresses(tmp_path: Path) -> None:
    topology, _ = imported(tmp_path, TWO_NETWORKS)
    found = {node.name: (node.role, [str(each) for each in node.own_addresses]) for node in topology.nodes}
    assert found == {
        "desk": (Role.CLIENT, ["10.1.0.1"]),
        "h1": (Role.DIRECTOR, ["10.2.0.1"]),
        "h2": (Role.REAL_SERVER, ["10.2.0.2"]),
        "h3": (Role.REAL_SERVER, ["10.2.0.3"]),
        "r0": (Role.ROUTER, ["10.1.0.254", "10.2.0.254"]),
    }
    (service,) = topology.services
    assert (service.director, service.scheduler, [each.node for each in service.destinations]) == (
        "h1",
        "wlc",
        ["h2", "h3"],
    )


def test_bandwidth_and_delay_of_a_cable_stay(tmp_path: Path) -> None:
    topology, _ = imported(tmp_path, TWO_NETWORKS)
    shaping = topology.node("desk").interfaces[0].shaping
    assert shaping is not None
    assert (shaping.rate_bit_s, shaping.delay_ms) == (10_000_000, 5)
    assert not topology.node("h1").interfaces[0].shaping


def test_joined_switches_are_one_network_with_the_addresses_that_mininet_gives(tmp_path: Path) -> None:
    build = """
        self.addLink(s1, s2)
        for number in (1, 2, 3, 4):
            self.addLink(self.addHost(f'h{number}'), s1 if number < 3 else s2)
"""
    roles = {"client": ["h4"], "director": ["h1"], "real-server": ["h2", "h3"]}
    topology, _ = imported(tmp_path, build, roles, Service("10.0.0.100", 80, "dr", "rr"))
    assert [(network.name, *map(str, network.subnets)) for network in topology.networks] == [("s1", "10.0.0.0/8")]
    assert [str(node.own_addresses[0]) for node in topology.nodes] == ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    build = TWO_NETWORKS + "        self.addLink(self.addHost('spare'), s2, loss=3)\n"
    topology, notes = imported(tmp_path, build)
    assert "spare" not in {node.name for node in topology.nodes}
    assert notes[:2] == ("left out spare: no role", "left out options of cables: loss")


@pytest.mark.parametrize("name", ["yes", "on", "null", "true", "1e3", "0x10", "7"])
def test_a_name_that_yaml_reads_as_something_else_stays_a_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "made.py"
    made = HEAD.replace("Made", f"_{name}").replace("'s1'", "'1e4'") + TWO_NETWORKS.replace("'desk'", f"'{name}'")
    path.write_text(made)
    text, _ = topo_text(read_topo(path, f"_{name}"), {**ROLES, "client": [name]}, SERVICE)
    topology = load_text(text, "made")
    assert topology.name == name
    assert topology.node(name).role is Role.CLIENT
    assert {network.name for network in topology.networks} == {"1e4", "s2"}


@pytest.mark.parametrize("odd", ["a:b", "#x", "h[1-2]", "H1", "it's", 'say "x"', "{{7}}", "{%x", "\udc80", "a\nb", "*"])
@pytest.mark.parametrize("kind", ["host", "switch"])
def test_a_name_that_no_topology_takes_is_said(tmp_path: Path, odd: str, kind: str) -> None:
    build = TWO_NETWORKS if kind == "switch" else TWO_NETWORKS.replace("'desk'", ascii(odd))
    path = tmp_path / "made.py"
    path.write_text((HEAD.replace("'s1'", ascii(odd)) if kind == "switch" else HEAD) + build)
    roles = ROLES if kind == "switch" else {**ROLES, "client": [glob.escape(odd)]}
    with pytest.raises(BadInput, match=f"a {kind}'s name that no topology takes") as caught:
        topo_text(read_topo(path, "Made"), roles, SERVICE)
    assert caught.value.found == repr(odd)


@pytest.mark.parametrize(
    "odd", ["rr, port: 81", "a: b", "# x", "{{ 7 * 7 }}", "{% if %}", "{# x #}", "'", '"', "[", "\n"]
)
def test_an_option_is_one_text_whatever_is_in_it(tmp_path: Path, odd: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"unknown scheduler: expected {one_of(SCHEDULERS)}")) as caught:
        imported(tmp_path, TWO_NETWORKS, service=replace(SERVICE, scheduler=odd))
    assert repr(odd) in str(caught.value)


@pytest.mark.parametrize(
    ("build", "roles", "said"),
    [
        (TWO_NETWORKS, {"director": ["h9"]}, "no such host: expected one of desk, h1, h2, h3, r0, found h9"),
        (TWO_NETWORKS, {"director": ["h1"], "client": ["h*"]}, "a host of two roles: found h1: director, client"),
        (
            "        self.addLink(self.addHost('h1'), s1)\n        self.addLink('h1', s2)\n",
            {"router": ["h1"]},
            "a card without an address: .* found none for h1, port 1",
        ),
        (
            "        self.addLink(self.addHost('h1'), self.addHost('h2'))\n",
            {"client": ["h1"]},
            "a cable from host to host: expected a switch, found h1 to h2",
        ),
        (
            "        for last in (1, 9):\n"
            "            self.addLink(self.addHost(f'h{last}', ip=f'10.{last}.0.1/16'), s1)\n",
            {"client": ["h*"]},
            "two subnets on one network: expected 10.1.0.0/16 for all at s1, found 10.9.0.1/16 for h9",
        ),
        (
            "        self.addLink(self.addHost('h1', defaultRoute='dev eth0'), s1)\n",
            {"client": ["h1"]},
            "a default route that names no gateway: found dev eth0",
        ),
        ("        raise OSError('no room')\n", {}, "no topology can be made of it: found OSError: no room"),
    ],
)
def test_what_it_cannot_be_is_said(tmp_path: Path, build: str, roles: Mapping[str, Sequence[str]], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        imported(tmp_path, build, roles)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (HEAD + "        pass\n", "Other", "found no Other; there is Made"),
        ("Made = int\n", "Made", "found Made makes no Topo"),
        ("def", "Made", "found SyntaxError"),
    ],
)
def test_a_file_without_that_topo_is_refused(tmp_path: Path, text: str, name: str, said: str) -> None:
    path = tmp_path / "made.py"
    path.write_text(text)
    with pytest.raises(BadInput, match=said):
        read_topo(path, name)


def test_a_name_of_mn_custom_will_do(tmp_path: Path) -> None:
    path = tmp_path / "made.py"
    path.write_text(HEAD + "        self.addHost('h1')\n\ntopos = {'made': lambda: Made()}\n")
    assert [host.name for host in read_topo(path, "made").hosts] == ["h1"]
