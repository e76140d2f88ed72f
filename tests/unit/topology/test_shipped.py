"""The shipped topologies: what each implies, written out by hand."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from lvslab.topology import json_schema, lint, load_text, load_topology, shipped, validate
from lvslab.topology.model import Method, Role, Setting, Topology, TunnelKind
from lvslab.topology.rendering import render
from lvslab.topology.shipped import find

NAMES = (
    "director-client",
    "dr",
    "dr-arptables",
    "dr-ipv6",
    "dr-mtu",
    "dr-neighbour",
    "ftp",
    "fullnat",
    "hybrid",
    "localnode",
    "mark-media",
    "mark-web",
    "nat",
    "nat-ipv6",
    "one-arm-nat",
    "one-packet",
    "persistence",
    "rr-dns",
    "sctp",
    "tun",
    "tun-gre",
    "tun-gue",
    "tun-ipv6",
    "tun-mixed",
    "tun-mtu",
    "tun-mtu-clamp",
    "tun-mtu-pieces",
    "udp",
)


def settings_by_node(topology: Topology) -> dict[str, str]:
    return {node.name: " ".join(sorted(node.settings)) for node in topology.nodes}


def test_these_are_shipped() -> None:
    assert shipped() == NAMES


def test_the_shipped_files_pass_lint() -> None:
    assert lint(shipped()) == ()


SETTINGS = {
    "nat": {
        "client": "",
        "director": "ip_forward send_redirects vip",
        "rs1": "default_route server",
        "rs2": "default_route server",
    },
    "dr": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route vip",
        "rs1": "arp_announce arp_ignore default_route server vip",
        "rs2": "arp_announce arp_ignore default_route server vip",
    },
    "dr-mtu": {
        "client": "default_route",
        "isp": "ip_forward",
        "router": "default_route ip_forward",
        "director": "default_route vip",
        "rs1": "arp_announce arp_ignore default_route server vip",
        "rs2": "arp_announce arp_ignore default_route server vip",
    },
    "tun-mtu": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route vip",
        "rs1": "default_route rp_filter server tunnel vip",
        "rs2": "default_route rp_filter server tunnel vip",
    },
    "tun-mtu-clamp": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route vip",
        "rs1": "clamp_mss default_route rp_filter server tunnel vip",
        "rs2": "clamp_mss default_route rp_filter server tunnel vip",
    },
    "tun-mtu-pieces": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route vip",
        "rs1": "default_route rp_filter server tunnel vip",
        "rs2": "default_route rp_filter server tunnel vip",
    },
    "dr-arptables": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route vip",
        "rs1": "arptables default_route server vip",
        "rs2": "arptables default_route server vip",
    },
    "dr-neighbour": {
        "client": "default_route",
        "router": "ip_forward neighbour",
        "director": "default_route vip",
        "rs1": "default_route server vip",
        "rs2": "default_route server vip",
    },
    "tun": {
        "client": "default_route",
        "director": "default_route vip",
        "router": "ip_forward",
        "rs1": "default_route rp_filter server tunnel vip",
        "rs2": "default_route rp_filter server tunnel vip",
    },
    "persistence": {
        "client1": "default_route",
        "client2": "default_route",
        "client3": "default_route",
        "client4": "default_route",
        "router": "ip_forward",
        "director": "default_route vip",
        "rs1": "arp_announce arp_ignore default_route server vip",
        "rs2": "arp_announce arp_ignore default_route server vip",
        "rs3": "arp_announce arp_ignore default_route server vip",
    },
    "udp": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route vip",
        "rs1": "arp_announce arp_ignore default_route server vip",
        "rs2": "arp_announce arp_ignore default_route server vip",
    },
    "sctp": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route ip_forward send_redirects vip",
        "rs1": "default_route server single_homed",
        "rs2": "default_route server single_homed",
    },
    "one-packet": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route vip",
        "rs1": "arp_announce arp_ignore default_route server vip",
        "rs2": "arp_announce arp_ignore default_route server vip",
    },
    "mark-web": {
        "client1": "default_route",
        "client2": "default_route",
        "router": "ip_forward",
        "director": "default_route mark vip",
        "rs1": "arp_announce arp_ignore default_route server vip",
        "rs2": "arp_announce arp_ignore default_route server vip",
        "rs3": "arp_announce arp_ignore default_route server vip",
    },
    "mark-media": {
        "client1": "default_route",
        "client2": "default_route",
        "router": "ip_forward",
        "director": "default_route mark vip",
        "rs1": "default_route rp_filter server tunnel vip",
        "rs2": "default_route rp_filter server tunnel vip",
        "rs3": "default_route rp_filter server tunnel vip",
    },
    "localnode": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route server vip",
        "rs1": "arp_announce arp_ignore default_route server vip",
        "rs2": "arp_announce arp_ignore default_route server vip",
    },
    "director-client": {
        "director": "vip",
        "rs1": "arp_announce arp_ignore server vip",
        "rs2": "arp_announce arp_ignore server vip",
    },
    "one-arm-nat": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route ip_forward send_redirects vip",
        "rs1": "default_route server",
        "rs2": "default_route server",
    },
    "fullnat": {
        "client": "",
        "director": "conntrack ip_forward masquerade send_redirects vip",
        "rs1": "server",
        "rs2": "server",
    },
    "dr-ipv6": {
        "client": "default_route",
        "router": "ip_forward",
        "director": "default_route vip",
        "rs1": "arp_announce arp_ignore default_route server vip",
        "rs2": "arp_announce arp_ignore default_route server vip",
    },
    "nat-ipv6": {
        "client": "",
        "director": "ip_forward send_redirects vip",
        "rs1": "default_route server",
        "rs2": "default_route server",
    },
    "tun-ipv6": {
        "client": "default_route",
        "director": "default_route vip",
        "router": "ip_forward",
        "rs1": "default_route rp_filter server tunnel vip",
        "rs2": "default_route rp_filter server tunnel vip",
    },
    "tun-gue": {
        "client": "default_route",
        "director": "default_route vip",
        "router": "ip_forward",
        "rs1": "default_route rp_filter server tunnel vip",
        "rs2": "default_route rp_filter server tunnel vip",
    },
    "tun-gre": {
        "client": "default_route",
        "director": "default_route vip",
        "router": "ip_forward",
        "rs1": "default_route rp_filter server tunnel vip",
        "rs2": "default_route rp_filter server tunnel vip",
    },
    "tun-mixed": {
        "client": "default_route",
        "director": "default_route vip",
        "router": "ip_forward",
        "rs1": "default_route rp_filter server tunnel vip",
        "rs2": "default_route rp_filter server tunnel vip",
    },
    "hybrid": {
        "client1": "",
        "client2": "",
        "ns": "",
        "resolver": "",
        "director1": "ip_forward send_redirects vip",
        "director2": "ip_forward send_redirects vip",
        "rs1": "default_route server",
        "rs2": "default_route server",
        "rs3": "default_route server",
        "rs4": "default_route server",
    },
    "ftp": {
        "client": "",
        "director": "ip_forward send_redirects vip",
        "rs1": "default_route server",
        "rs2": "default_route server",
    },
    "rr-dns": {
        "client1": "default_route",
        "client2": "default_route",
        "client3": "default_route",
        "resolver": "default_route",
        "router": "ip_forward",
        "ns": "default_route",
        "rs1": "default_route server",
        "rs2": "default_route server",
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_roles_and_method_imply_the_settings(name: str) -> None:
    assert settings_by_node(load_topology(name)) == SETTINGS[name]


GATEWAYS = [("nat", "198.18.0.1"), ("dr", "198.18.0.1"), ("tun", "198.18.0.1"), ("rr-dns", "198.18.0.1")]


@pytest.mark.parametrize(("name", "gateway"), GATEWAYS)
def test_real_servers_use_the_implied_gateway(name: str, gateway: str) -> None:
    assert load_topology(name).node("rs1").gateway == (ip_address(gateway),)


def test_the_nat_servers_gateway_is_the_director() -> None:
    topology = load_topology("nat")
    assert topology.node("rs1").gateway[0] in topology.node("director").own_addresses


FIRST_SERVER = {
    **{name: ["198.18.2.11"] for name in ("tun-mtu", "tun-mtu-clamp", "tun-mtu-pieces")},
    "dr-ipv6": ["2001:db8:2::11"],
    "nat-ipv6": ["2001:db8:2::11"],
    "sctp": ["198.18.0.11", "198.18.2.11"],
    "tun-ipv6": ["2001:db8:2::11"],
    "tun-mixed": ["198.18.0.17", "2001:db8:2::11"],
}
"""Addresses of rs1, where they are not 198.18.0.11."""


@pytest.mark.parametrize("name", sorted({*NAMES} - {"hybrid"}))
@pytest.mark.parametrize("count", [1, 2, 255, 256])
def test_any_number_of_servers_from_1_to_256_loads(name: str, count: int) -> None:
    topology = load_topology(name, params={"real_servers": count})
    servers = [node.name for node in topology.nodes if node.name.startswith("rs")]
    assert servers == [f"rs{number}" for number in range(1, count + 1)]
    first = FIRST_SERVER.get(name, ["198.18.0.11"])
    assert list(topology.node(f"rs{count}").own_addresses) == [ip_address(text) + count - 1 for text in first]
    assert topology.params["real_servers"] == count
    for service in topology.services:
        others = [item.node for item in service.destinations if item.method is not Method.LOCAL]
        assert others == servers


@pytest.mark.parametrize("count", [1, 2, 128])
def test_both_clusters_of_hybrid_have_the_same_number_of_servers(count: int) -> None:
    topology = load_topology("hybrid", params={"real_servers": count})
    first, second = ([item.node for item in service.destinations] for service in topology.services)
    assert first == [f"rs{number}" for number in range(1, count + 1)]
    assert second == [f"rs{number}" for number in range(count + 1, 2 * count + 1)]


def test_the_name_of_hybrid_has_the_vips_of_both_directors() -> None:
    (name,) = load_topology("hybrid").name_services
    assert [(node, str(vip)) for node, vip in name.records] == [
        ("director1", "203.0.113.100"),
        ("director2", "203.0.113.101"),
    ]


def test_localnode_has_the_director_among_its_servers() -> None:
    topology = load_topology("localnode")
    last = topology.services[0].destinations[-1]
    assert (last.node, last.method, last.address) == ("director", Method.LOCAL, ip_address("198.18.0.2"))
    assert topology.node("director").has(Setting.SERVER)


def test_the_servers_of_fullnat_have_no_gateway() -> None:
    assert [node.gateway for node in load_topology("fullnat").with_role(Role.REAL_SERVER)] == [(), ()]


OUTER = {
    "tun": (TunnelKind.IPIP, 0, 4),
    "tun-gue": (TunnelKind.GUE, 6080, 4),
    "tun-gre": (TunnelKind.GRE, 0, 4),
    "tun-ipv6": (TunnelKind.IPIP, 0, 6),
    "tun-mixed": (TunnelKind.IPIP, 0, 6),
}


@pytest.mark.parametrize("name", OUTER)
def test_tunnels_have_their_outer_header(name: str) -> None:
    for item in load_topology(name).services[0].destinations:
        assert (item.tunnel.kind, item.tunnel.port, item.address.version) == OUTER[name]


def test_interfaces_and_macs_follow_the_order_of_the_file() -> None:
    router = load_topology("dr").node("router")
    facts = [(card.name, card.network, card.mac, *map(str, card.addresses)) for card in router.interfaces]
    assert facts == [
        ("eth0", "outside", "02:00:00:00:02:00", "203.0.113.1/24"),
        ("eth1", "inside", "02:00:00:00:02:01", "198.18.0.1/23"),
    ]


def test_macs_stay_unique_beyond_255_nodes() -> None:
    topology = load_topology("dr", params={"real_servers": 256})
    macs = [card.mac for node in topology.nodes for card in node.interfaces]
    assert len(set(macs)) == len(macs)
    assert macs[-1] == "02:00:00:01:03:00"


def test_nat_maps_the_port() -> None:
    (service,) = load_topology("nat", params={"server_port": "8181"}).services
    assert service.port == 80
    assert {destination.port for destination in service.destinations} == {8181}


def test_tun_with_strict_rp_filter_is_one_parameter() -> None:
    server = load_topology("tun", params={"rp_filter": "1"}).node("rs2")
    assert dict(server.sysctls) == {"net.ipv4.conf.all.rp_filter": "1", "net.ipv4.conf.tunl0.rp_filter": "1"}


def test_dr_with_a_wide_vip_is_one_parameter() -> None:
    assert load_topology("dr", params={"vip_prefix": "24"}).services[0].vip_prefix == 24


def test_rr_dns_has_a_record_for_each_server() -> None:
    (service,) = load_topology("rr-dns").name_services
    assert [(node, str(address)) for node, address in service.records] == [
        ("rs1", "198.18.0.11"),
        ("rs2", "198.18.0.12"),
    ]
    assert (service.server, service.resolver, service.ttl_s) == ("ns", "resolver", 30)


@pytest.mark.parametrize("name", NAMES)
def test_titles_are_in_both_languages(name: str) -> None:
    assert set(load_topology(name).title) == {"en", "zh"}


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_file_is_yaml_even_before_rendering(name: str) -> None:
    data = YAML(typ="safe", pure=True).load(find(name))
    assert data["name"] == name


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_accepts_a_shipped_file(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    text = render(find(name).read_text(encoding="utf-8"), name, load_topology(name).params).text
    jsonschema.validate(YAML(typ="safe", pure=True).load(text), json_schema())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("method: dr", "method: masq"),
        ("role: client", "rol: client"),
        ("port: 80", "port: 0"),
        ("scheduler: rr", "x: y"),
    ],
)
def test_the_schema_refuses_a_bad_file(old: str, new: str) -> None:
    text = find("dr").read_text(encoding="utf-8").replace(old, new).replace('"{{ scheduler }}"', "roundrobin")
    data = YAML(typ="safe", pure=True).load(text)
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(data)


@pytest.mark.parametrize("name", NAMES)
def test_the_rendered_description_makes_the_same_topology(name: str) -> None:
    routes = ["default_route"] if any("default_route" in settings for settings in SETTINGS[name].values()) else []
    topology = load_topology(name, params={"real_servers": 5}, without=["server@rs3", *routes])
    again = load_text(topology.rendered, "capture.pcapng")
    assert again.rendered == topology.rendered
    assert replace(again, source=topology.source) == topology


def test_the_rendered_description_survives_text_that_looks_like_a_template() -> None:
    text = find("dr").read_text(encoding="utf-8")
    text = text.replace("Direct routing on one network", "'{% raw %}{{ x }} {% y %} {# z #}{% endraw %}'")
    topology = load_text(text, "dr.yaml")
    assert topology.title["en"] == "{{ x }} {% y %} {# z #}"
    assert load_text(topology.rendered, "again").title == topology.title


def test_a_path_loads_as_well_as_a_name(tmp_path: Path) -> None:
    copy = tmp_path / "mine.yaml.j2"
    copy.write_text(find("dr").read_text(encoding="utf-8"), encoding="utf-8")
    topology = load_topology(copy)
    assert topology.source == str(copy)
    assert topology.nodes == load_topology("dr").nodes
    validate(topology)
