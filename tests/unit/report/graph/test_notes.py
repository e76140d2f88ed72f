from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import pytest

from lvslab.report.graph.notes import make_notes, short_names
from lvslab.report.graph.order import networks_in_order
from lvslab.report.graph.summary import summary
from lvslab.topology import load_topology
from lvslab.topology.model import Method
from tests.unit.report.graph.samples import IN_ENGLISH, MESHED


@pytest.mark.parametrize(
    ("names", "short"),
    [
        ("", ""),
        ("rs1", "rs1"),
        ("rs1 rs2", "rs1, rs2"),
        ("rs1 rs2 rs3", "rs[1-3]"),
        ("rs1 rs2 rs3 rs5 rs6", "rs[1-3], rs5, rs6"),
        ("rs3 rs2 rs1", "rs3, rs2, rs1"),
        ("rs9 rs10 rs11 ns", "rs[9-11], ns"),
        ("rs08 rs09 rs10", "rs08, rs09, rs10"),
        ("a b c", "a, b, c"),
    ],
)
def test_runs_of_names_are_shortened_exactly(names: str, short: str) -> None:
    assert short_names(names.split(), IN_ENGLISH) == short


def test_a_service_tells_its_scheduler_persistence_and_weights_in_order() -> None:
    first, second = make_notes(MESHED, IN_ENGLISH)
    assert (first.node, first.heading) == ("lb", "tcp 198.18.0.100:80 on lb")
    assert first.lines == (
        "method dr, scheduler wrr, persistent for 300 s",
        "to rs1 weight 3; rs2 weight 2; rs3 weight 1",
    )
    assert second.heading == "tcp [2001:db8:1::100]:443 on lb"
    assert second.lines[1] == "to rs[1-3] weight 1"


def test_a_destination_tells_what_differs_from_the_service() -> None:
    topology = load_topology("nat", params={"real_servers": 1})
    (service,) = topology.services
    odd = replace(service.destinations[0], method=Method.LOCAL, upper_threshold=9, lower_threshold=5)
    changed = replace(topology, services=(replace(service, destinations=(odd,)),))
    assert make_notes(changed, IN_ENGLISH)[0].lines[1] == (
        "to rs1 port 8080, weight 1, method local, at most 9 connections, again below 5"
    )


def test_a_name_tells_who_answers_and_its_records() -> None:
    topology = load_topology("rr-dns", params={"real_servers": 3})
    (note,) = make_notes(topology, IN_ENGLISH)
    assert (note.node, note.heading) == ("ns", "www.cluster.example port 80")
    assert note.lines == ("name server ns, resolver resolver, TTL 30 s", "records rs[1-3]")


def test_a_record_that_is_not_the_only_address_of_its_node_is_written_out() -> None:
    topology = load_topology("rr-dns", params={"real_servers": 1})
    service = replace(topology.name_services[0], resolver=None, records=(("rs1", ip_address("192.0.2.1")),))
    (note,) = make_notes(replace(topology, name_services=(service,)), IN_ENGLISH)
    assert note.lines == ("name server ns, TTL 30 s", "records rs1 192.0.2.1")


def test_networks_are_ordered_from_the_clients_to_the_servers() -> None:
    names = [network.name for network in networks_in_order(MESHED)]
    assert names == ["east", "west", "middle", "servers"]
    assert [network.name for network in networks_in_order(load_topology("tun"))] == ["outside", "servers"]


def test_the_summary_names_every_network_service_and_removal() -> None:
    assert summary(load_topology("dr", without=["arp_ignore", "vip@rs2"]), IN_ENGLISH) == (
        "Network outside: client, router. Network inside: router, director, rs1, rs2. "
        "tcp 198.18.0.10:80 on director: method dr, scheduler rr, to rs1, rs2 weight 1. "
        "Without vip: rs2. Without arp_ignore: rs1, rs2."
    )
