"""What holds of correct clusters, and of broken ones."""

from __future__ import annotations

import pytest

from lvslab.testing.lab import LabUnderTest

pytestmark = pytest.mark.lvs(topology="dr")


def test_the_director_rewrites_the_mac_and_nothing_else(lvs_lab: LabUnderTest) -> None:
    call = lvs_lab.walk("client", "http://198.18.0.10/")
    call.passes("router", "director").changes(only=["destination MAC", "TTL"]).keeps("source", "payload")
    call.reply.avoids("director").reaches("client")
    call.reaches(call.server)


def test_the_director_alone_answers_for_the_vip(lvs_lab: LabUnderTest) -> None:
    assert lvs_lab.arp_owner(lvs_lab.vip) == "director"


@pytest.mark.lvs(without="arp_ignore")
def test_without_arp_ignore_servers_answer_too(lvs_lab: LabUnderTest) -> None:
    assert {"rs1", "rs2"} <= set(lvs_lab.arp_owner().split(", "))
    lvs_lab.verify().fails("arp-owner")


@pytest.mark.lvs(set={"real_servers": 3}, fresh=True)
def test_round_robin_begins_with_the_last_that_was_added(lvs_lab: LabUnderTest) -> None:
    assert lvs_lab.schedule(4) == ["rs3", "rs2", "rs1", "rs3"]
    lvs_lab.verify().passes()


@pytest.mark.lvs(fresh=True)
def test_what_a_director_does_without_servers_and_without_a_service(lvs_lab: LabUnderTest) -> None:
    director = lvs_lab.node("director")
    for server in ("198.18.0.11:80", "198.18.0.12:80"):
        director.run("ipvsadm", "-d", "-t", "198.18.0.10:80", "-r", server)
    assert lvs_lab.schedule(2) == ["refused", "refused"]
    director.run("ipvsadm", "-C")
    assert lvs_lab.schedule(2) == ["nobody", "nobody"]


@pytest.mark.lvs(without="vip@director")
def test_without_the_vip_nobody_answers_for_it(lvs_lab: LabUnderTest) -> None:
    assert lvs_lab.arp_owner() == "nobody"


def test_any_program_s_packets_can_be_walked(lvs_lab: LabUnderTest) -> None:
    with lvs_lab.record() as recorded:
        assert lvs_lab.node("client").run("curl", "-s", f"http://{lvs_lab.vip}/").status == 0
    (call,) = recorded.calls
    call.passes("client", "router", "director")


@pytest.mark.lvs(topology="topologies/weighted.yaml", set={"heavy": 3}, fresh=True)
def test_a_topology_of_its_own(lvs_lab: LabUnderTest) -> None:
    assert sorted(lvs_lab.schedule(4)) == ["rs1", "rs1", "rs1", "rs2"]
    lvs_lab.walk("client", "http://vip/").passes("director").changes(only=["destination MAC", "destination", "TTL"])


@pytest.mark.lvs(topology="udp")
def test_datagrams(lvs_lab: LabUnderTest) -> None:
    lvs_lab.walk("client", "udp://vip:5060").passes("director").changes(only=["destination MAC", "TTL"]).answered()


@pytest.mark.lvs(topology="tun")
@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.lvs(set={"real_servers": 3}))])
def test_a_tunnel_puts_a_header_in_front(lvs_lab: LabUnderTest, size: int) -> None:
    assert len(lvs_lab.topology.services[0].destinations) == size
    lvs_lab.walk("client", "http://vip/").passes("director").changes("outer header").keeps("source", "destination")
