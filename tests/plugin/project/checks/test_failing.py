"""Each of these fails, and shows what the packets did."""

from __future__ import annotations

import pytest

from lvslab.testing.lab import LabUnderTest

pytestmark = pytest.mark.lvs(topology="dr")


@pytest.mark.lvs(without=["arp_ignore@rs1", "arp_ignore@rs2"])
def test_a_request_that_does_not_pass_the_director(lvs_lab: LabUnderTest) -> None:
    lvs_lab.walk("client", "http://vip/").passes("director")


@pytest.mark.lvs(without="arp_ignore")
def test_an_arp_owner(lvs_lab: LabUnderTest) -> None:
    assert lvs_lab.arp_owner() == "director"


@pytest.mark.lvs(topology="dr-neighbour", fresh=True)
def test_an_arp_question_in_the_name_of_the_vip(lvs_lab: LabUnderTest) -> None:
    assert lvs_lab.arp_owner() == "director"


def test_a_change(lvs_lab: LabUnderTest) -> None:
    lvs_lab.walk("client", "http://vip/").passes("director").changes(only=["TTL"])


def test_a_schedule(lvs_lab: LabUnderTest) -> None:
    assert lvs_lab.schedule(3) == ["rs1", "rs1", "rs1"]


def test_two_walks(lvs_lab: LabUnderTest) -> None:
    first = lvs_lab.walk("client", "http://vip/").passes("director")
    lvs_lab.walk("client", "http://vip/").answered(by=first.server)


@pytest.mark.lvs(without="server@rs2")
def test_expectations(lvs_lab: LabUnderTest) -> None:
    lvs_lab.verify().passes()
