"""Persistence, one-packet scheduling, flags and marks in a topology file: what is taken, what is refused and why."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from lvslab.errors import BadInputs
from lvslab.ipvs.intent import from_topology
from lvslab.ipvs.model import Family, Flag, FwmarkKey, Persistence
from lvslab.plan import make_plan
from lvslab.plan.steps import InstallService, LoadModules, MarkPackets, RequireSctp, StartServer
from lvslab.plan.tools import tool_call
from lvslab.topology import load_text
from lvslab.topology.model import Topology

NETWORK = """
name: kinds
networks: {net: 198.18.0.0/24}
nodes:
  client: {role: client, on: {net: 10}}
  director: {role: director, on: {net: 1}}
  rs[1-2]: {role: real-server, on: {net: 11+}}
services:
"""
WEB = "vip: 198.18.0.100, port: 80, method: dr, scheduler: rr, servers: rs*"
SECURE = WEB.replace("80", "443")


def loaded(*services: str) -> Topology:
    return load_text(NETWORK + "".join(f"  - {{{service}}}\n" for service in services), "kinds.yaml")


def test_a_kind_becomes_what_the_kernel_takes() -> None:
    (sticky,) = loaded(f"{WEB}, persistence: 60, persistence_prefix: 24").services
    assert from_topology(sticky).service.persistence == Persistence(60, 24)
    (single,) = loaded(f"{WEB}, protocol: udp, one_packet: true").services
    assert from_topology(single).service.flags == {Flag.ONE_PACKET}
    (hashed,) = loaded(f"{WEB.replace('rr', 'sh')}, flags: [sh-port, sh-fallback]").services
    assert from_topology(hashed).service.flags == {Flag.SH_PORT, Flag.SH_FALLBACK}
    (limited,) = loaded(WEB.replace("rs*", "[{node: rs*, upper: 9, lower: 3}]")).services
    assert [(item.upper_threshold, item.lower_threshold) for item in from_topology(limited).destinations] == [
        (9, 3)
    ] * 2


def test_services_of_one_mark_are_marked_each_and_installed_once() -> None:
    topology = loaded(f"{WEB}, mark: 3", f"{SECURE}, mark: 3", f"{WEB.replace('80', '8080')}")
    plan = make_plan(topology)
    marks = [step for step in plan.steps if isinstance(step, MarkPackets)]
    installed = [from_topology(step.service) for step in plan.steps if isinstance(step, InstallService)]
    assert [(step.node, step.port, step.mark) for step in marks] == [("director", 80, 3), ("director", 443, 3)]
    assert [each.service.key for each in installed][:1] == [FwmarkKey(3, Family.IPV4)]
    assert [[item.port for item in each.destinations] for each in installed] == [[0, 0], [8080, 8080]]


def test_a_rule_that_marks_sctp_needs_no_match_that_kernels_may_lack() -> None:
    plan = make_plan(loaded(f"{WEB}, protocol: sctp, mark: 3"))
    (call,) = [tool_call(step) for step in plan.steps if isinstance(step, MarkPackets)]
    assert " ".join(call).startswith(
        "iptables-legacy -w -t mangle -A PREROUTING -d 198.18.0.100 -p sctp -m multiport --dports 80 -j MARK"
    )


def test_the_marking_rules_can_be_left_out() -> None:
    text = NETWORK + f"  - {{{WEB}, mark: 3}}\n"
    plan = make_plan(load_text(text, "kinds.yaml", without=["mark"]))
    assert [step for step in plan.steps if isinstance(step, MarkPackets)] == []
    assert len([step for step in plan.steps if isinstance(step, InstallService)]) == 1


@pytest.mark.parametrize("spoken", ["protocol: sctp", "protocol: udp", "application: ftp"])
def test_nginx_is_refused_for_what_it_does_not_speak(spoken: str) -> None:
    nginx = NETWORK.replace("11+}}", "11+}, server: nginx}")
    text = nginx + f"  - {{{WEB}, {spoken}}}\n"
    with pytest.raises(BadInputs) as caught:
        load_text(text, "kinds.yaml")
    words = f"nginx serves HTTP over TCP alone: expected 'server: builtin', found {spoken.split()[1]} on rs1"
    assert words in str(caught.value)
    assert load_text(nginx + f"  - {{{WEB}}}\n", "kinds.yaml")


OVER_SCTP = f"{WEB}, protocol: sctp"
BOUND = [
    (OVER_SCTP, [], ["198.18.0.100", "198.18.0.100"]),
    (OVER_SCTP.replace("method: dr", "method: tun"), [], ["198.18.0.100", "198.18.0.100"]),
    (OVER_SCTP.replace("method: dr", "method: nat"), [], ["198.18.0.11", "198.18.0.12"]),
    (OVER_SCTP, ["single_homed@rs1"], [None, "198.18.0.100"]),
    (WEB, [], [None, None]),
]


@pytest.mark.parametrize(("service", "without", "addresses"), BOUND)
def test_an_sctp_server_is_bound_to_the_one_address_it_is_asked_at(
    service: str, without: list[str], addresses: list[str | None]
) -> None:
    plan = make_plan(load_text(NETWORK + f"  - {{{service}}}\n", "kinds.yaml", without=without))
    started = [step.address for step in plan.steps if isinstance(step, StartServer)]
    assert started == [address and ip_address(address) for address in addresses]


def test_sctp_needs_its_module_and_a_kernel_that_can() -> None:
    plan = make_plan(loaded(OVER_SCTP))
    modules = [name for step in plan.steps if isinstance(step, LoadModules) for name in step.names]
    assert "sctp" in modules
    assert plan.of_kind(RequireSctp) == (RequireSctp(tracked=False),)
    assert make_plan(loaded(WEB)).of_kind(RequireSctp) == ()
    translated = OVER_SCTP.replace("method: dr", "method: nat") + ", source_nat: true"
    assert make_plan(loaded(translated)).of_kind(RequireSctp) == (RequireSctp(tracked=True),)


NAT_MAP = WEB.replace("dr", "nat").replace("rs*", "[{node: rs*, port: 8080}]")
BAD = {
    "prefix-alone": ([f"{WEB}, persistence_prefix: 24"], "prefix without persistence"),
    "prefix-too-long": ([f"{WEB}, persistence: 60, persistence_prefix: 33"], "expected 1 to 32, found 33"),
    "tcp-by-packets": (
        [f"{WEB}, one_packet: true"],
        "one-packet scheduling is for UDP: expected protocol udp, found tcp",
    ),
    "sctp-by-packets": (
        [f"{WEB}, protocol: sctp, one_packet: true"],
        "one-packet scheduling is for UDP: expected protocol udp, found sctp",
    ),
    "ftp-over-sctp": ([f"{WEB}, protocol: sctp, application: ftp"], "FTP is spoken over TCP"),
    "flag-of-another": (
        [f"{WEB}, flags: [mh-port]"],
        "flag mh-port of another scheduler: expected scheduler mh, found rr",
    ),
    "unknown-flag": ([f"{WEB}, flags: [ops]"], "services[0].flags"),
    "mark-0": ([f"{WEB}, mark: 0"], "expected 1 to 4294967295, found 0"),
    "mark-maps-ports": ([f"{NAT_MAP}, mark: 1"], "port map with a firewall mark"),
    "mark-differs": (
        [f"{WEB}, mark: 1, persistence: 60", f"{SECURE}, mark: 1"],
        "services[1].persistence: services of mark 1 differ: expected the same as in services[0], found persistence",
    ),
    "mark-other-servers": (
        [f"{WEB}, mark: 1", f"{SECURE.replace('rs*', 'rs1')}, mark: 1"],
        "services[1].servers: services of mark 1 differ",
    ),
    "cure-without-the-illness": (
        [f"{NAT_MAP}, arp_cure: arptables"],
        "services[0].arp_cure: cure without the ARP problem: expected an IPv4 VIP that servers hold as well",
    ),
    "lower-above-upper": ([WEB.replace("rs*", "[{node: rs*, upper: 3, lower: 9}]")], "unusable thresholds"),
    "threshold-too-large": ([WEB.replace("rs*", "[{node: rs*, upper: 65536}]")], "expected 0 to 65535, found 65536"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_the_kernel_would_not_heed_is_refused(name: str) -> None:
    services, words = BAD[name]
    with pytest.raises(BadInputs) as caught:
        loaded(*services)
    assert words in str(caught.value)
