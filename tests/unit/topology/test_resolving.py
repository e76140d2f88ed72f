"""From documents to the model: services, gateways, tunnels beside the VIP, removals; and topologies built in code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address, ip_interface, ip_network

import pytest

from lvslab.errors import BadInput, BadInputs
from lvslab.topology import lint, load_text, load_topology, validate, with_implied_settings
from lvslab.topology.model import (
    Destination,
    Interface,
    Method,
    Network,
    Node,
    Protocol,
    Role,
    Route,
    Setting,
    Topology,
    VirtualService,
)

HEAD = """
name: t
networks: {outside: 203.0.113.0/24, inside: [198.18.0.0/24, "2001:db8::/64"]}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, inside: 1}}
  director: {role: director, on: {inside: 2}}
  rs[1-3]: {role: real-server, on: {inside: 11+}}
"""


def load(rest: str) -> Topology:
    return load_text(HEAD + rest, "t.yaml")


def service(rest: str) -> str:
    return f"services:\n  - {{vip: 198.18.0.100, port: 80, scheduler: rr, {rest}}}\n"


def weights(topology: Topology) -> list[tuple[str, int]]:
    return [(destination.node, destination.weight) for destination in topology.services[0].destinations]


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        ("rs*", [("rs1", 1), ("rs2", 1), ("rs3", 1)]),
        ("rs2", [("rs2", 1)]),
        ("[rs3, rs1]", [("rs3", 1), ("rs1", 1)]),
        ("rs*, weights: [3, 2, 0]", [("rs1", 3), ("rs2", 2), ("rs3", 0)]),
        ("[{node: 'rs[1-2]', weight: 5}, rs3]", [("rs1", 5), ("rs2", 5), ("rs3", 1)]),
    ],
)
def test_destinations_stand_in_the_order_written(servers: str, expected: list[tuple[str, int]]) -> None:
    assert weights(load(service(f"method: dr, servers: {servers}"))) == expected


def test_an_ipv6_service_uses_the_servers_ipv6_addresses() -> None:
    topology = load(service("method: dr, servers: rs1").replace("198.18.0.100", '"2001:db8::100"'))
    assert topology.services[0].destinations[0].address == ip_address("2001:db8::b")


def test_a_dual_stack_node_has_a_gateway_of_each_family() -> None:
    assert load("").node("rs1").gateway == (ip_address("198.18.0.1"), ip_address("2001:db8::1"))


def test_a_tunnelled_server_beside_the_vip_needs_the_arp_settings_too() -> None:
    settings = load(service("method: tun, servers: rs*")).node("rs1").settings
    assert settings >= {Setting.TUNNEL, Setting.RP_FILTER, Setting.ARP_IGNORE, Setting.ARP_ANNOUNCE, Setting.VIP}


def test_one_armed_nat_sends_the_servers_back_through_the_director() -> None:
    topology = load(service("method: nat, servers: rs*"))
    assert topology.node("rs1").gateway[0] == ip_address("198.18.0.2")
    assert topology.node("director").gateway[0] == ip_address("198.18.0.1")
    assert Setting.SEND_REDIRECTS in topology.node("director").settings


def test_an_explicit_gateway_wins_over_the_implied_one() -> None:
    text = HEAD.replace("on: {inside: 11+}", "on: {inside: 11+}, gateway: router") + service(
        "method: nat, servers: rs*"
    )
    assert load_text(text, "t.yaml").node("rs1").gateway[0] == ip_address("198.18.0.1")


@pytest.mark.parametrize(
    ("without", "bare"),
    [
        ("[arp_ignore]", {"rs1", "rs2", "rs3"}),
        ("[arp_ignore@rs2]", {"rs2"}),
        ("['arp_ignore@rs[1-2]']", {"rs1", "rs2"}),
        ("[arp_ignore@rs1, arp_ignore]", {"rs1", "rs2", "rs3"}),
    ],
)
def test_without_takes_a_setting_from_the_nodes_meant(without: str, bare: set[str]) -> None:
    topology = load(service("method: dr, servers: rs*") + f"without: {without}\n")
    lacking = {node.name for node in topology.with_role(Role.REAL_SERVER) if not node.has(Setting.ARP_IGNORE)}
    assert lacking == bare
    assert all(node.has(Setting.ARP_ANNOUNCE) for node in topology.with_role(Role.REAL_SERVER))


def test_without_in_a_group_takes_the_setting_from_all_of_it() -> None:
    text = HEAD.replace("on: {inside: 11+}", "on: {inside: 11+}, without: [server]")
    assert not any(node.has(Setting.SERVER) for node in load_text(text, "t.yaml").with_role(Role.REAL_SERVER))


def test_without_as_an_option_adds_to_the_files_own() -> None:
    text = HEAD + service("method: dr, servers: rs*") + "without: [vip@rs1]\n"
    topology = load_text(text, "t.yaml", without=["vip@rs2", "vip@rs1"])
    assert [node.has(Setting.VIP) for node in topology.with_role(Role.REAL_SERVER)] == [False, False, True]


def test_lint_gathers_the_faults_of_all_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    bad = tmp_path_factory.mktemp("lint") / "bad.yaml"
    bad.write_text(HEAD.replace("role: client", "role: clint").replace("name: t", "nam: t"), encoding="utf-8")
    faults = lint(["dr", bad, "nonsense"])
    assert len(faults) == 4
    assert all(isinstance(fault, BadInput) for fault in faults)


def built() -> Topology:
    """Build a small cluster in code: one client, one director, one server on one network."""
    subnet = ip_network("192.0.2.0/24")
    names = ((1, "client", Role.CLIENT), (2, "director", Role.DIRECTOR), (3, "rs1", Role.REAL_SERVER))
    nodes = tuple(
        Node(
            name,
            role,
            (Interface("eth0", "lan", f"02:00:00:00:0{number}:00", (ip_interface(f"192.0.2.{number}/24"),)),),
            frozenset(),
            server="builtin" if role is Role.REAL_SERVER else None,
        )
        for number, name, role in names
    )
    destination = Destination("rs1", ip_address("192.0.2.3"), 80, Method.DR)
    virtual = VirtualService(
        "director", ip_address("192.0.2.100"), "eth0", Protocol.TCP, 80, Method.DR, "rr", (destination,)
    )
    return Topology("built", {"en": "Built"}, (Network("lan", (subnet,)),), nodes, (virtual,))


def test_a_topology_built_in_code_is_valid_and_gets_implied_settings() -> None:
    topology = with_implied_settings(built())
    validate(topology)
    assert Setting.ARP_IGNORE in topology.node("rs1").settings


def with_service(**changes: object) -> Callable[[Topology], Topology]:
    return lambda topology: replace(topology, services=(replace(topology.services[0], **changes),))  # type: ignore[arg-type]


def with_server(**changes: object) -> Callable[[Topology], Topology]:
    return lambda topology: replace(topology, nodes=(*topology.nodes[:2], replace(topology.nodes[2], **changes)))  # type: ignore[arg-type]


def with_destination(**changes: object) -> Callable[[Topology], Topology]:
    destination = replace(built().services[0].destinations[0], **changes)  # type: ignore[arg-type]
    return with_service(destinations=(destination,))


BUILT_WRONG: list[tuple[str, Callable[[Topology], Topology]]] = [
    ("unknown director", with_service(director="nobody")),
    ("unknown director", with_service(director="client")),
    ("VIP in no network of its director", with_service(vip_device="eth7")),
    ("duplicate service", lambda topology: replace(topology, services=topology.services * 2)),
    ("duplicate server", lambda topology: with_service(destinations=topology.services[0].destinations * 2)(topology)),
    ("service without servers", with_service(destinations=())),
    ("unknown real server", with_destination(node="client")),
    ("address that the server does not have", with_destination(address=ip_address("192.0.2.9"))),
    ("mixed address families", with_service(vip=ip_address("2001:db8::1"))),
    ("unusable thresholds", with_destination(lower_threshold=5, upper_threshold=3)),
    ("port map with method tun", with_destination(method=Method.TUN, port=81)),
    ("duplicate name", lambda topology: replace(topology, nodes=(*topology.nodes, topology.nodes[0]))),
    ("node on no network", with_server(interfaces=())),
    ("unknown network", lambda topology: replace(topology, networks=(Network("wan", topology.networks[0].subnets),))),
    ("duplicate MAC address", with_server(interfaces=built().nodes[0].interfaces)),
    ("two interfaces on one network", with_server(interfaces=built().nodes[2].interfaces * 2)),
    ("unknown server", with_server(server="apache")),
    ("next hop on no network of the node", with_server(gateway=(ip_address("198.18.0.1"),))),
    ("next hop is the node itself", with_server(routes=(Route(None, ip_address("192.0.2.3")),))),
    ("unknown device", with_server(addresses=(("eth1", ip_interface("192.0.2.8/32")),))),
    ("network without a subnet", lambda topology: replace(topology, networks=(Network("lan", ()),))),
]


@pytest.mark.parametrize(("what", "break_it"), BUILT_WRONG, ids=[case[0] for case in BUILT_WRONG])
def test_a_fault_of_a_topology_built_in_code_is_found(what: str, break_it: Callable[[Topology], Topology]) -> None:
    with pytest.raises(BadInputs) as caught:
        validate(break_it(built()))
    assert any(f": {what}" in line for line in str(caught.value).splitlines()), str(caught.value)
    assert str(caught.value).startswith("built: ")


def test_a_tunnelled_server_that_the_director_cannot_route_to_is_refused() -> None:
    text = HEAD.replace("  router:", "  far: {role: real-server, on: {outside: 9}}\n  rooter:").replace(
        "rooter: {role: router,", "rooter: {role: client,"
    )
    with pytest.raises(BadInputs, match="no route to"):
        load_text(text + service("method: tun, servers: far"), "t.yaml")


def test_shipped_topologies_can_be_loaded_with_options_together() -> None:
    topology = load_topology("dr", params={"real_servers": 3, "scheduler": "wlc"}, without=["arp_ignore@rs3"])
    assert topology.services[0].scheduler == "wlc"
    assert [node.has(Setting.ARP_IGNORE) for node in topology.with_role(Role.REAL_SERVER)] == [True, True, False]
