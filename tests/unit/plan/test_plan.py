"""Steps and their shell text, feature by feature: what a topology asks for is in the plan, and nothing else."""

from __future__ import annotations

import shlex
from dataclasses import replace
from ipaddress import ip_address

import pytest

from lvslab.ipvs.intent import from_topology
from lvslab.plan import make_plan
from lvslab.plan.describe import describe
from lvslab.plan.shell import shell_lines, shell_script
from lvslab.plan.steps import AddAddress, AddRoute, InstallService, MakeLink, Plan, SetUp, Step, WriteSysctl
from lvslab.topology import load_text, load_topology
from lvslab.topology.model import Destination, Method, VirtualService

CLUSTER = """
name: cluster
networks: {outside: [203.0.113.0/24, "2001:db8:1::/64"], inside: [198.18.0.0/24, "2001:db8:2::/64"]}
nodes:
  client: {role: client, on: {outside: 10}}
  director: {role: director, on: {outside: 2, inside: 1}}
  rs[1-3]: {role: real-server, on: {inside: 11+}}
services:
"""
WRR = "[{vip: 203.0.113.100, port: 80, method: nat, scheduler: wrr, servers: rs*, weights: [1, 2, 3]}]"
UDP = "[{vip: 203.0.113.100, port: 53, protocol: udp, method: nat, scheduler: rr, servers: rs1}]"
IPV6 = '[{vip: "2001:db8:1::100", port: 80, method: nat, scheduler: rr, servers: [{node: rs1, port: 8080}]}]'
STICKY = "[{vip: 203.0.113.100, port: 80, method: nat, scheduler: rr, servers: rs1, persistence: 300}]"


def plan_of(services: str) -> Plan:
    return make_plan(load_text(CLUSTER + "  " + services, "test"))


def ipvsadm(plan: Plan) -> list[str]:
    """Return the arguments of the plan's ipvsadm commands."""
    lines = [line for step in plan.of_kind(InstallService) for line in shell_lines(step)]
    return [line.removeprefix("ip netns exec director ipvsadm ") for line in lines]


@pytest.mark.parametrize(
    ("services", "commands"),
    [
        (
            WRR,
            [
                "-A -t 203.0.113.100:80 -s wrr",
                "-a -t 203.0.113.100:80 -r 198.18.0.11:80 -m -w 1",
                "-a -t 203.0.113.100:80 -r 198.18.0.12:80 -m -w 2",
                "-a -t 203.0.113.100:80 -r 198.18.0.13:80 -m -w 3",
            ],
        ),
        (UDP, ["-A -u 203.0.113.100:53 -s rr", "-a -u 203.0.113.100:53 -r 198.18.0.11:53 -m -w 1"]),
        (
            IPV6,
            ["-A -t [2001:db8:1::100]:80 -s rr", "-a -t [2001:db8:1::100]:80 -r [2001:db8:2::b]:8080 -m -w 1"],
        ),
        (STICKY, ["-A -t 203.0.113.100:80 -s rr -p 300", "-a -t 203.0.113.100:80 -r 198.18.0.11:80 -m -w 1"]),
    ],
)
def test_services_become_ipvsadm_commands(services: str, commands: list[str]) -> None:
    assert ipvsadm(plan_of(services)) == commands


def service_with(destination: Destination) -> VirtualService:
    address = ip_address("203.0.113.100")
    loaded = load_text(CLUSTER + "  " + WRR, "test").services[0]
    return replace(loaded, vip=address, destinations=(destination,))


def test_thresholds_become_x_and_y() -> None:
    destination = Destination("rs1", ip_address("198.18.0.11"), 80, Method.NAT, 2, 100, 80)
    line = shell_lines(InstallService("director", service_with(destination)))[1]
    assert line.endswith("-r 198.18.0.11:80 -m -w 2 -x 100 -y 80")


FLAGS = {Method.NAT: "-m", Method.TUN: "-i", Method.DR: "-g"}


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("port", [80, 8080])
def test_the_shell_and_netlink_ask_for_the_same_method(method: Method, port: int) -> None:
    if method in (Method.TUN, Method.DR) and port != 80:
        port = 80  # only NAT maps ports
    service = service_with(Destination("director", ip_address("198.18.0.1"), port, method))
    (installed,) = from_topology(service).destinations
    words = shlex.split(shell_lines(InstallService("director", service))[1])
    assert set(words) & set(FLAGS.values()) == {FLAGS[installed.method]}


REMOVALS = {
    "vip@rs1": ("dr", "rs1: add address 198.18.0.10/32 to lo"),
    "vip@director": ("dr", "director: add address 198.18.0.10/32 to eth0"),
    "arp_ignore@rs1": ("dr", "rs1: set net.ipv4.conf.all.arp_ignore = 1"),
    "arp_announce@rs1": ("dr", "rs1: set net.ipv4.conf.all.arp_announce = 2"),
    "tunnel@rs1": ("tun", "rs1: set tunl0 up"),
    "ip_forward@director": ("nat", "director: set net.ipv4.ip_forward = 1"),
    "send_redirects@director": ("nat", "director: set net.ipv4.conf.all.send_redirects = 0"),
    "default_route@rs2": ("nat", "rs2: add a default route via 198.18.0.1"),
    "server@rs1": ("nat", "rs1: start the http server on port 8080 (builtin)"),
}


def described(name: str, *without: str) -> list[str]:
    return [describe(step) for step in make_plan(load_topology(name, without=without)).steps]


@pytest.mark.parametrize("removal", REMOVALS)
def test_a_removed_setting_is_all_that_leaves_the_plan(removal: str) -> None:
    name, step = REMOVALS[removal]
    whole, rest = described(name), described(name, removal)
    assert step in whole
    assert step not in rest
    setting, _, node = removal.partition("@")
    gone = [line for line in whole if line not in rest]
    assert all(line.startswith(f"{node}: ") for line in gone), setting
    assert [line for line in rest if line not in whole] == []


def test_the_tunnel_filter_is_off_on_all_and_on_the_device() -> None:
    lines = described("tun")
    assert "rs1: set net.ipv4.conf.all.rp_filter = 0" in lines
    assert "rs1: set net.ipv4.conf.tunl0.rp_filter = 0" in lines


def test_a_files_own_sysctls_come_after_the_implied_ones() -> None:
    topology = load_topology("tun", params={"rp_filter": 1})
    keys = [
        (step.key, step.value)
        for step in make_plan(topology).of_kind(WriteSysctl)
        if isinstance(step, WriteSysctl) and step.node == "rs1" and "rp_filter" in step.key
    ]
    both = ("net.ipv4.conf.all.rp_filter", "net.ipv4.conf.tunl0.rp_filter")
    assert keys == [*((key, "0") for key in both), *((key, "1") for key in both)]


def first(plan: Plan, kind: type[Step]) -> int:
    return next(number for number, step in enumerate(plan.steps) if isinstance(step, kind))


@pytest.mark.parametrize("name", ["dr", "nat", "tun"])
def test_what_depends_on_something_comes_after_it(name: str) -> None:
    plan = make_plan(load_topology(name))
    order = [first(plan, kind) for kind in (MakeLink, SetUp, AddAddress, AddRoute, InstallService)]
    assert order == sorted(order)
    services = [number for number, step in enumerate(plan.steps) if isinstance(step, InstallService)]
    assert services[0] > max(number for number, step in enumerate(plan.steps) if isinstance(step, AddAddress))


def test_an_ipv6_vip_is_deprecated_on_the_director_and_not_on_lo() -> None:
    text = CLUSTER.replace(
        "director: {role: director, on: {outside: 2, inside: 1}}",
        "router: {role: router, on: {outside: 1, inside: 1}}\n  director: {role: director, on: {inside: 2}}",
    )
    service = '[{vip: "2001:db8:2::100", port: 80, method: dr, scheduler: rr, servers: rs1}]'
    plan = make_plan(load_text(text + "  " + service, "test"))
    lines = [line for step in plan.of_kind(AddAddress) for line in shell_lines(step) if "2001:db8:2::100" in line]
    assert lines == [
        "ip -n director addr add 2001:db8:2::100/128 dev eth0 preferred_lft 0",
        "ip -n rs1 addr add 2001:db8:2::100/128 dev lo",
    ]


def test_ipv6_is_off_where_there_is_none_and_on_where_there_is() -> None:
    assert "client: set net.ipv6.conf.all.disable_ipv6 = 1" in described("dr")
    lines = [describe(step) for step in plan_of(IPV6).steps]
    assert "client: set net.ipv6.conf.all.disable_ipv6 = 1" not in lines
    assert "director: set net.ipv6.conf.all.forwarding = 1" in lines
    assert any("service tcp [2001:db8:1::100]:80" in line for line in lines)


@pytest.mark.parametrize("name", ["dr", "nat", "tun", "rr-dns"])
def test_every_step_has_words_and_shell_text(name: str) -> None:
    plan = make_plan(load_topology(name))
    assert all(describe(step) and shell_lines(step) for step in plan.steps)
    assert shell_script(plan).startswith(f"#!/bin/sh\n# lvslab: topology {name}\nset -e\n")


def test_what_is_no_step_is_refused() -> None:
    with pytest.raises(TypeError, match="no description of str"):
        describe("step")
    with pytest.raises(TypeError, match="no shell form of str"):
        shell_lines("step")  # type: ignore[arg-type]
