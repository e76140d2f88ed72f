"""The papers' three cures of the ARP problem, and each half of the filters by itself."""

from __future__ import annotations

import pytest

from lvslab.lab import Lab
from lvslab.verify.result import Verdict
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

VIP, RIP, DIRECTOR_MAC = "198.18.0.10", "198.18.0.11", "02:00:00:00:03:00"


def test_the_filters_are_as_arptables_lists_them(open_lab_in: OpenLab) -> None:
    with open_lab_in("dr-arptables") as lab:
        listed = lab.node("rs1").run("arptables-legacy", "-L", "-n").output
        ignored = lab.node("rs1").run("sysctl", "-n", "net.ipv4.conf.all.arp_ignore").output
    assert f"-j DROP -d {VIP}" in listed
    assert f"-s {VIP}" in listed
    assert f"--mangle-ip-s {RIP}" in listed
    assert ignored.strip() == "0"


def test_without_the_second_filter_servers_ask_as_the_vip(open_lab_in: OpenLab) -> None:
    with open_lab_in("dr-arptables") as lab:
        for server in ("rs1", "rs2"):
            assert lab.node(server).run("arptables-legacy", "-F", "OUTPUT").status == 0
        results = {item.name: item for item in lab.verify().expectations}
    claimed = results["arp-owner"]
    assert claimed.verdict is Verdict.FAIL
    assert f"sent an ARP request as {VIP}" in claimed.seen
    assert "does not put its own address there" in claimed.cause
    assert "--mangle-ip-s" in claimed.next


def test_an_entry_by_hand_outlives_what_servers_claim(open_lab_in: OpenLab) -> None:
    """The servers answer anybody who asks: the client's network does not, and the router need not."""
    with open_lab_in("dr-neighbour") as lab:
        assert lab.verify().verdict is Verdict.PASS
        entry = lab.node("router").run("ip", "neigh", "show", VIP).output
    assert f"lladdr {DIRECTOR_MAC} PERMANENT" in entry


VALUES = {
    ("arp_ignore", 0): "answered ARP for",
    ("arp_ignore", 1): "",
    ("arp_ignore", 2): "",
    ("arp_ignore", 3): "answered ARP for",
    ("arp_announce", 0): "sent an ARP request as",
    ("arp_announce", 1): "sent an ARP request as",
    ("arp_announce", 2): "",
}
"""What servers then do that only the director may (Documentation/networking/ip-sysctl.rst).

3 is silent about addresses of host scope alone, and the VIP's is global; 1 keeps a sender of the target's subnet.
"""


@pytest.mark.parametrize(("key", "value"), VALUES)
def test_the_values_of_the_sysctls(open_lab_in: OpenLab, key: str, value: int) -> None:
    did = VALUES[key, value]
    with open_lab_in("dr") as lab:
        set_on_servers(lab, key, value)
        results = {item.name: item for item in lab.verify().expectations}
    assert results["arp-owner"].verdict is (Verdict.FAIL if did else Verdict.PASS)
    assert did in results["arp-owner"].seen


def test_a_server_that_never_answers_is_not_reached_at_all(open_lab_in: OpenLab) -> None:
    with open_lab_in("dr") as lab:
        set_on_servers(lab, "arp_ignore", 8)
        results = {item.name: item for item in lab.verify().expectations}
    assert results["dr-request"].verdict is Verdict.FAIL
    assert results["answered"].verdict is Verdict.FAIL


def set_on_servers(lab: Lab, key: str, value: int) -> None:
    for server in ("rs1", "rs2"):
        assert lab.node(server).run("sysctl", "-qw", f"net.ipv4.conf.all.{key}={value}").status == 0
