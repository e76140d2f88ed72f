"""What only one forwarding method has, LocalNode, and link-local addresses: allowed, or refused with a reason."""

from __future__ import annotations

from ipaddress import ip_interface

import pytest

from lvslab.errors import BadInputs
from lvslab.plan import make_plan
from lvslab.plan.steps import AddAddress, Masquerade, StartServer
from lvslab.topology import load_text
from lvslab.topology.addressing import link_local_address
from lvslab.topology.model import Method, Setting

BASE = """
name: variant
networks: {outside: [203.0.113.0/24, "2001:db8:1::/64"], inside: [198.18.0.0/24, "2001:db8:2::/64"]}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, inside: 1}}
  director: {role: director, on: {inside: 2}}
  rs1: {role: real-server, on: {inside: 11}}
services: [{vip: VIP, port: 80, scheduler: rr, OPTIONS}]
"""


def text(options: str, vip: str = "198.18.0.100") -> str:
    return BASE.replace("VIP", vip).replace("OPTIONS", options)


REFUSED = {
    "a tunnel of another method": ("method: dr, tunnel: gre, servers: rs1", "tunnel without method tun"),
    "source NAT of another method": ("method: dr, source_nat: true, servers: rs1", "source NAT without method nat"),
    "a checksum that ipip has not": (
        "method: tun, tunnel_checksum: csum, servers: rs1",
        "checksum that ipip has not: expected nocsum, found csum",
    ),
    "a checksum that gre has not": (
        "method: tun, tunnel: gre, tunnel_checksum: remcsum, servers: rs1",
        "checksum that gre has not: expected nocsum or csum, found remcsum",
    ),
    "gue over IPv6": ("method: tun, tunnel: gue, tunnel_ip: 6, servers: rs1", "tunnel that no server here can unwrap"),
    "a port of LocalNode with DR": ("method: dr, servers: [{node: rs1, port: 81}]", "port map with method dr"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_method_has_not_is_refused(case: str) -> None:
    options, words = REFUSED[case]
    with pytest.raises(BadInputs) as caught:
        load_text(text(options), "test")
    assert words in str(caught.value)


def test_ipv6_in_ipv4_is_refused() -> None:
    with pytest.raises(BadInputs, match="tunnel that no server here can unwrap"):
        load_text(text("method: tun, tunnel_ip: 4, servers: rs1", '"2001:db8:2::a"'), "test")


def test_an_unknown_caller_is_refused() -> None:
    with pytest.raises(BadInputs, match="unknown node"):
        load_text(text("method: dr, servers: rs1") + "traffic: {client: directer}\n", "test")


def test_a_director_serves_only_where_it_is_named() -> None:
    everybody = load_text(text('method: dr, servers: "*"'), "test")
    assert [item.node for item in everybody.services[0].destinations] == ["rs1"]
    named = load_text(text("method: dr, servers: [director, rs1]"), "test")
    assert [(item.node, item.method) for item in named.services[0].destinations] == [
        ("director", Method.LOCAL),
        ("rs1", Method.DR),
    ]


def test_a_director_behind_nat_may_serve_on_another_port() -> None:
    topology = load_text(text("method: nat, servers: [{node: director, port: 8080}, rs1]"), "test")
    servers = [step for step in make_plan(topology).of_kind(StartServer) if isinstance(step, StartServer)]
    assert [(step.node, step.port) for step in servers] == [("director", 8080), ("rs1", 80)]


def test_source_nat_needs_no_gateway_and_masquerades_each_vip_once() -> None:
    options = "method: nat, source_nat: true, servers: rs1"
    second = f"services: [{{vip: 198.18.0.100, port: 81, scheduler: rr, {options}}}, "
    topology = load_text(text(options).replace("services: [", second), "test")
    assert topology.node("rs1").gateway == topology.node("client").gateway[:0] + topology.node("director").gateway
    assert topology.node("director").has(Setting.MASQUERADE)
    assert topology.node("director").has(Setting.CONNTRACK)
    assert make_plan(topology).of_kind(Masquerade) == (Masquerade("director", topology.services[0].vip),)


def test_a_link_local_address_is_made_of_the_mac() -> None:
    assert link_local_address("02:00:00:00:05:01") == ip_interface("fe80::ff:fe00:501/64")
    assert link_local_address("00:1b:21:0a:0b:0c") == ip_interface("fe80::21b:21ff:fe0a:b0c/64")


def test_each_interface_with_ipv6_has_its_link_local_address_from_the_start() -> None:
    plan = make_plan(load_text(text("method: dr, servers: rs1"), "test"))
    added = [
        step for step in plan.of_kind(AddAddress) if isinstance(step, AddAddress) and step.address.ip.is_link_local
    ]
    assert [(step.node, step.device) for step in added] == [
        ("client", "eth0"),
        ("router", "eth0"),
        ("router", "eth1"),
        ("director", "eth0"),
        ("rs1", "eth0"),
    ]
