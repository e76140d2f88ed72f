"""Every sound table becomes a topology that loads, with the same services on an invented network."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lvslab.errors import BadInput
from lvslab.importing import Format, judge, read_configuration, topology_text
from lvslab.importing.carried import carry
from lvslab.ipvs.intent import from_topology
from lvslab.ipvs.model import AddressKey, Destination, IntendedService, Persistence
from lvslab.ipvs.text import read_saved, saved_text
from lvslab.topology import load_text
from lvslab.topology.model import Role, Topology, Tunnel, TunnelChecksum, TunnelKind
from tests.unit.ipvs.tables import tables

PATIENTLY = settings(deadline=None, max_examples=60)


def imported(text: str, source: str = "table.rules") -> tuple[str, Topology]:
    made, _ = topology_text(read_configuration(text, source, Format.SAVED))
    return made, load_text(made, "made.yaml")


@PATIENTLY
@given(tables())
def test_a_topology_of_a_random_table_has_what_fits_of_it(table: tuple[IntendedService, ...]) -> None:
    text = saved_text(table)
    configuration = read_configuration(text or "# nothing", "table.rules", Format.SAVED)
    if any(not finding.is_warning for finding in judge(configuration)):
        return
    carried, _ = carry(configuration.services)
    if not carried:
        return
    _, topology = imported(text)
    for service, wanted in zip(topology.services, carried, strict=True):
        made = from_topology(service)
        assert made.service.key == wanted.key
        assert made.service.scheduler == wanted.scheduler
        assert made.service.flags == wanted.flags
        assert _by_address(made.service.persistence) == _by_address(wanted.persistence)
        assert [_facts(each) for each in made.destinations] == [_facts(each) for each in wanted.destinations]
        assert {each.tunnel for each in made.destinations} == {wanted.tunnel}


def _by_address(persistence: Persistence | None) -> Persistence | None:
    """Take the engine off, which a topology does not have."""
    return persistence and replace(persistence, engine=None)


def _facts(server: Destination) -> tuple[object, ...]:
    thresholds = server.upper_threshold, server.lower_threshold
    return server.address, server.port, server.weight, server.method, *thresholds


@PATIENTLY
@given(st.text(max_size=30))
@example("{{ 1 }}")
@example("{% if %}")
@example("{#")
@example("a\nname: b")
def test_no_name_of_a_file_spoils_the_topology(name: str) -> None:
    text = "-A -t 192.0.2.100:80 -s rr\n-a -t 192.0.2.100:80 -r 192.0.2.11:80 -g -w 1\n"
    _, topology = imported(text, name)
    assert len(topology.services) == 1


def one(method: str, vip: str, *servers: str) -> Topology:
    lines = [f"-A -t {vip}:80 -s rr", *(f"-a -t {vip}:80 -r {server}:80 {method} -w 1" for server in servers)]
    return imported("\n".join(lines))[1]


def networks(topology: Topology, node: str) -> list[str]:
    return [interface.network for interface in topology.node(node).interfaces]


def test_dr_on_one_network() -> None:
    topology = one("-g", "192.0.2.100", "192.0.2.11", "192.0.2.12")
    assert {network.name: list(map(str, network.subnets)) for network in topology.networks} == {
        "clients": ["203.0.113.0/24"],
        "cluster": ["192.0.2.0/24"],
    }
    assert networks(topology, "router") == ["clients", "cluster"]
    assert topology.node("rs1").gateway == (topology.node("router").interfaces[1].addresses[0].ip,)


def test_dr_with_the_vip_on_another_network() -> None:
    topology = one("-g", "192.0.2.100", "10.0.0.11")
    assert networks(topology, "director") == ["servers", "vips"]
    assert networks(topology, "router") == ["clients", "servers", "vips"]


def test_nat_servers_have_no_way_but_the_director() -> None:
    topology = one("-m", "192.0.2.100", "10.0.0.11")
    assert networks(topology, "router") == ["clients", "vips"]
    assert topology.node("rs1").gateway == (topology.node("director").interfaces[0].addresses[0].ip,)


def test_tunnelled_servers_are_behind_the_router() -> None:
    topology = one("-i", "192.0.2.100", "10.0.0.11", "10.9.9.11")
    assert networks(topology, "director") == ["vips"]
    assert networks(topology, "router") == ["clients", "servers1", "servers2", "vips"]


def test_addresses_at_the_edge_of_a_subnet_are_given_a_wider_one() -> None:
    topology = one("-g", "10.0.0.255", "10.0.1.0", "10.0.1.255")
    assert [str(subnet) for network in topology.networks for subnet in network.subnets] == [
        "203.0.113.0/24",
        "10.0.0.0/22",
    ]


def test_a_full_subnet_is_given_room_for_router_and_director() -> None:
    servers = [f"10.0.0.{number}" for number in range(1, 250)]
    topology = one("-g", "10.0.0.254", *servers, "10.0.0.250", "10.0.0.251", "10.0.0.252", "10.0.0.253")
    assert [str(subnet) for subnet in topology.network("cluster").subnets] == ["10.0.0.0/23"]
    assert len(topology.with_role(Role.REAL_SERVER)) == 253


def test_clients_live_where_nobody_else_does() -> None:
    topology = one("-g", "203.0.113.100", "203.0.113.11")
    assert [str(subnet) for subnet in topology.network("clients").subnets] == ["198.51.100.0/24"]


def test_a_table_without_anything_that_fits_is_refused() -> None:
    text = "-A -f 7 -s rr\n-a -f 7 -r 192.0.2.11:0 -g -w 1\n"
    try:
        imported(text)
    except BadInput as error:
        assert "nothing here that a topology can hold" in str(error)
        assert "line 1: service FWM 7 IPv4 left out" in str(error)
    else:
        raise AssertionError(text)


TUNNELS = {
    "": Tunnel(),
    "--tun-type gre --tun-csum": Tunnel(TunnelKind.GRE, 0, TunnelChecksum.PRESENT),
    "--tun-type gue --tun-port 6080 --tun-remcsum": Tunnel(TunnelKind.GUE, 6080, TunnelChecksum.REMOTE),
}


@pytest.mark.parametrize("options", TUNNELS)
def test_tunnels_are_carried(options: str) -> None:
    text = f"-A -t 192.0.2.100:80 -s rr\n-a -t 192.0.2.100:80 -r 192.0.2.11:80 -i -w 1 {options}\n"
    made, notes = topology_text(read_configuration(text, "t", Format.SAVED))
    assert not any("tunnel" in str(note) for note in notes)
    assert [item.tunnel for item in load_text(made, "t").services[0].destinations] == [TUNNELS[options]]


LEFT_OUT = [
    ("-A -t 192.0.2.100:80 -s rr", "--tun-type gue --tun-port 7000", "tunnel gue port 7000 becomes ipip"),
    ("-A -u 192.0.2.100:80 -s rr -p 60 --pe sip", "", "persistence engine left out: sip"),
]


def test_everything_left_out_is_said() -> None:
    for service, options, words in LEFT_OUT:
        key = " ".join(service.split()[1:3])
        method = "-i" if "tun" in options else "-g"
        text = f"{service}\n-a {key} -r 192.0.2.11:80 {method} -w 1 {options}\n"
        made, notes = topology_text(read_configuration(text, "t", Format.SAVED))
        assert any(words in str(note) for note in notes), words
        assert words in made.replace("\n#  ", "")


def test_servers_that_do_not_fit_are_left_out_and_named() -> None:
    text = (
        "-A -t 192.0.2.100:80 -s rr\n"
        "-a -t 192.0.2.100:80 -r 192.0.2.11:80 -g -w 1\n"
        "-a -t 192.0.2.100:80 -r 192.0.2.12:80 -g -w 1\n"
        "-a -t 192.0.2.100:80 -r 192.0.2.13:8080 -m -w 1\n"
        "-a -t 192.0.2.100:80 -r 127.0.0.1:80 -g -w 1\n"
    )
    _, notes = topology_text(read_configuration(text, "t", Format.SAVED))
    said = [str(note) for note in notes if note.line]
    assert said == [
        "line 4: server 192.0.2.13:8080 left out: its method is nat, that of most is dr",
        "line 5: server 127.0.0.1:80 left out: a topology has no servers on the director itself",
    ]


def test_a_file_says_which_service_each_line_is_of() -> None:
    text = "-A -t 192.0.2.1:80 -s rr\n-A -t 192.0.2.2:80 -s rr\n-a -t 192.0.2.1:80 -r 192.0.2.11:80 -g\n"
    first, second = read_saved(text, "t")
    assert [len(first.destinations), len(second.destinations)] == [1, 0]
    assert isinstance(first.service.key, AddressKey)
