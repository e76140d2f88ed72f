"""Who holds a virtual address, and who asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from lvslab.topology import load_text, load_topology
from lvslab.topology.vips import vip_askers, vip_holders

TWO_SERVICES = """
name: two
networks: {outside: 198.51.100.0/24, inside: 192.0.2.0/24}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, inside: 1}}
  director: {role: director, on: {inside: 2}}
  rs[1-2]: {role: real-server, on: {inside: 11+}}
services:
  - {vip: 192.0.2.100, port: 80, method: dr, scheduler: rr, servers: rs*, vip_prefix: 24}
  - {vip: 192.0.2.100, port: 81, method: dr, scheduler: rr, servers: rs1}
"""


def held(text: str, without: Sequence[str] = ()) -> list[str]:
    model = load_text(text, "test", without=without)
    return [f"{holder.node} {holder.device} {holder.address}" for holder in vip_holders(model)]


@pytest.mark.parametrize(
    ("name", "holders"),
    [
        ("dr", ["director eth0 198.18.0.10/32", "rs1 lo 198.18.0.10/32", "rs2 lo 198.18.0.10/32"]),
        ("rr-dns", []),
    ],
)
def test_holders_of_shipped_topologies(name: str, holders: list[str]) -> None:
    found = vip_holders(load_topology(name))
    assert [f"{holder.node} {holder.device} {holder.address}" for holder in found] == holders


def test_only_the_director_holds_it_where_it_translates() -> None:
    assert [holder.node for holder in vip_holders(load_topology("nat"))] == ["director"]


def test_a_node_holds_it_once_however_many_services_it_has() -> None:
    assert held(TWO_SERVICES) == [
        "director eth0 192.0.2.100/32",
        "rs1 lo 192.0.2.100/24",
        "rs2 lo 192.0.2.100/24",
    ]


def test_one_whose_vip_was_removed_holds_none() -> None:
    assert held(TWO_SERVICES, without=["vip@rs1"]) == ["director eth0 192.0.2.100/32", "rs2 lo 192.0.2.100/24"]


@pytest.mark.parametrize(
    ("name", "vip", "askers"),
    [("dr", "198.18.0.10", ("router",)), ("nat", "203.0.113.100", ("client",)), ("dr", "198.18.0.99", ())],
)
def test_those_beside_the_director_ask(name: str, vip: str, askers: tuple[str, ...]) -> None:
    model = load_topology(name)
    if name == "nat":
        vip = str(model.services[0].vip)
    assert vip_askers(model, ip_address(vip)) == askers
