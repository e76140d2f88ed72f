"""Kinds of service, each with the change at the director that takes away what it promises.

The change is ipvsadm's. What the capture and the table then show must fail where the kind is judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from lvslab.errors import CannotRun
from lvslab.topology import load_text
from lvslab.topology.model import Topology
from lvslab.topology.shipped import find
from lvslab.verify.result import Verdict
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel


@dataclass(frozen=True)
class Spoilt:
    """A shipped topology, a command at its director, and what then fails and says so."""

    topology: str
    command: str
    expectation: str
    seen: str
    cause: str
    params: Mapping[str, Any] = field(default_factory=dict)


SPOILT = {
    "not-persistent": Spoilt(
        "persistence",
        "ipvsadm -E -t 198.18.0.10:80 -s rr",
        "persistence",
        "203.0.113.10 went to rs3, and ",
        "the service is not persistent",
    ),
    "mask-too-long": Spoilt(
        "persistence",
        "ipvsadm -E -t 198.18.0.10:80 -s rr -p 300",
        "persistence",
        "203.0.113.0/28 went to rs3, and ",
        "not for so many addresses",
        {"prefix": 28},
    ),
    "template-gone": Spoilt(
        "persistence",
        "ipvsadm -E -t 198.18.0.10:80 -s sh",
        "persistence",
        "the table has no template",
        "the service is not persistent",
    ),
    "one-packet": Spoilt(
        "udp",
        "ipvsadm -E -u 198.18.0.10:5060 -s rr -o",
        "datagrams",
        "those from client port 20001 went to rs2, rs1",
        "schedules each datagram by itself",
    ),
    "not-one-packet": Spoilt(
        "one-packet",
        "ipvsadm -E -u 198.18.0.10:5060 -s rr",
        "datagrams",
        "5 entries of them in the table",
        "no one-packet scheduling",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_director_that_does_otherwise_fails(open_lab_in: OpenLab, name: str) -> None:
    spoilt = SPOILT[name]
    with open_lab_in(spoilt.topology, **spoilt.params) as lab:
        done = lab.node("director").run(*spoilt.command.split())
        assert done.status == 0, done.output
        results = {item.name: item for item in lab.verify().expectations}
    result = results[spoilt.expectation]
    assert result.verdict is Verdict.FAIL
    assert spoilt.seen in result.seen
    assert spoilt.cause in result.cause


@pytest.mark.parametrize("prefix", [32, 28, 24])
def test_clients_of_one_subnet_share_a_server(open_lab_in: OpenLab, prefix: int) -> None:
    """Four clients: .10 and .11, .40 and .41."""
    with open_lab_in("persistence", prefix=prefix) as lab:
        examination = lab.examine()
    assert {item.name: item.seen for item in examination.result.expectations if item.verdict != "pass"} == {}
    servers: dict[str, set[str]] = {}
    for outcome in examination.evidence.outcomes or ():
        servers.setdefault(outcome.client, set()).add(outcome.server)
    of_client = [servers[f"client{number}"] for number in range(1, 5)]
    assert all(len(each) == 1 for each in of_client)
    assert len(set().union(*of_client)) == {32: 3, 28: 2, 24: 1}[prefix]
    assert (of_client[0] == of_client[1], of_client[2] == of_client[3]) == (prefix < 32, prefix < 32)


@pytest.mark.parametrize("topology", ["mark-web", "mark-media"])
def test_a_client_has_one_server_for_all_ports_of_a_mark(open_lab_in: OpenLab, topology: str) -> None:
    with open_lab_in(topology) as lab:
        outcomes = lab.drive()
        listed = lab.node("director").run("ipvsadm", "-Ln").output
    servers: dict[str, set[str]] = {}
    for outcome in outcomes:
        servers.setdefault(outcome.client, set()).add(outcome.server)
    assert len({outcome.port for outcome in outcomes}) == 2
    assert servers == {"client1": {"rs3"}, "client2": {"rs2"}}
    assert "FWM " in listed
    assert "persistent 300" in listed


MARKED_IPV6 = """
name: marked-ipv6
networks: {net: ["2001:db8:2::/64"]}
nodes:
  client[1-2]: {role: client, on: {net: 20+}}
  director: {role: director, on: {net: 1}}
  rs[1-3]: {role: real-server, on: {net: 11+}}
services:
  - {mark: 7, vip: "2001:db8:2::a", port: 80, method: dr, scheduler: rr, persistence: 300, servers: rs*}
  - {mark: 7, vip: "2001:db8:2::a", port: 443, method: dr, scheduler: rr, persistence: 300, servers: rs*}
"""


def test_an_ipv6_marks_template_is_found_by_the_mark_in_its_first_word(open_lab_in: OpenLab) -> None:
    with open_lab_in(load_text(MARKED_IPV6, "test")) as lab:
        results = [item for item in lab.verify().expectations if item.name.startswith("persistence ")]
        listed = lab.node("director").run("cat", "/proc/net/ip_vs_conn").output
    assert [result.verdict for result in results] == [Verdict.PASS] * 2, results
    assert " 0000:0007:0000:0000:0000:0000:0000:0000 0000 " in listed


@pytest.mark.parametrize(("topology", "from_one_port"), [("udp", 1), ("one-packet", 2)])
def test_datagrams_of_one_port(open_lab_in: OpenLab, topology: str, from_one_port: int) -> None:
    with open_lab_in(topology) as lab:
        outcomes = lab.drive()
        table = lab.node("director").run("cat", "/proc/net/ip_vs_conn").output.splitlines()[1:]
    servers: dict[int, set[str]] = {}
    for outcome in outcomes:
        servers.setdefault(outcome.client_port, set()).add(outcome.server)
    assert {len(each) for each in servers.values()} == {from_one_port}
    assert len(table) == (len(servers) if from_one_port == 1 else 0)


FLAGGED = """
name: flagged
networks: {{net: 198.18.0.0/24}}
nodes:
  client: {{role: client, on: {{net: 10}}}}
  director: {{role: director, on: {{net: 1}}}}
  rs[1-3]: {{role: real-server, on: {{net: 11+}}}}
services: [{{vip: 198.18.0.100, port: 80, method: dr, scheduler: {scheduler}, {kind}}}]
traffic: {{connections: 12}}
"""
KINDS = [
    ("sh", "servers: rs*", {1}),
    ("sh", "servers: rs*, flags: [sh-port]", {2, 3}),
    ("sh", "servers: [rs1, {node: rs2, weight: 0}, rs3], flags: [sh-port, sh-fallback]", {2}),
    ("mh", "servers: rs*", {1}),
    ("mh", "servers: rs*, flags: [mh-port]", {2, 3}),
    ("rr", "servers: [{node: rs1, upper: 2}, {node: rs2, upper: 3, lower: 1}, rs3]", {3}),
]


@pytest.mark.parametrize(("scheduler", "kind", "servers"), KINDS)
def test_flags_and_thresholds_are_in_force_and_predicted(
    open_lab_in: OpenLab, scheduler: str, kind: str, servers: set[int]
) -> None:
    topology = load_text(FLAGGED.format(scheduler=scheduler, kind=kind), "test")
    with open_lab_in(topology) as lab:
        examination = lab.examine()
    assert {item.name: item.seen for item in examination.result.expectations if item.verdict != "pass"} == {}
    answered = [outcome.server for outcome in examination.evidence.outcomes or ()]
    assert len(set(answered)) in servers
    if "upper" in kind:
        assert (answered.count("rs1"), answered.count("rs2")) == (2, 3)


def over_sctp(name: str) -> Topology:
    """Return a shipped topology with SCTP in the place of TCP."""
    text = find(name).read_text()
    return load_text(re.sub(r"(?m)^( +)- vip: .*$", r"\g<0>\n\1  protocol: sctp", text), f"{name}.yaml")


@pytest.mark.parametrize(
    "name",
    ["director-client", "dr-ipv6", "localnode", "nat-ipv6", "persistence", "tun", "tun-gre", "tun-gue", "tun-mixed"],
)
def test_sctp_goes_every_way_that_tcp_goes(open_lab_in: OpenLab, name: str) -> None:
    with open_lab_in(over_sctp(name)) as lab:
        examination = lab.examine()
        listed = lab.node("director").run("ipvsadm", "-Ln").output
        connections = lab.node("director").run("ipvsadm", "-Lnc").output
    assert {item.name: item.seen for item in examination.result.expectations if item.verdict != "pass"} == {}
    assert [outcome.ok for outcome in examination.evidence.outcomes or ()] != []
    assert "\nSCTP " in listed
    assert "TCP " not in listed
    assert re.search(r"(?m)^SCTP +\S+ +(CLOSED|ESTABLISHED) ", connections)


MARKED = """
name: marked
networks: {net: 198.18.0.0/24}
nodes:
  client[1-2]: {role: client, on: {net: 21+}}
  director: {role: director, on: {net: 1}}
  rs[1-3]: {role: real-server, on: {net: 11+}}
services:
  - {vip: 198.18.0.100, port: 5060, mark: 1, persistence: 300, method: dr, scheduler: rr, servers: rs*}
  - {vip: 198.18.0.100, port: 5060, protocol: sctp, mark: 1, persistence: 300, method: dr, scheduler: rr, servers: rs*}
"""


def test_tcp_and_sctp_of_one_mark_are_one_service(open_lab_in: OpenLab) -> None:
    with open_lab_in(load_text(MARKED, "marked")) as lab:
        examination = lab.examine()
    assert {item.name: item.seen for item in examination.result.expectations if item.verdict != "pass"} == {}
    servers: dict[str, set[str]] = {}
    for outcome in examination.evidence.outcomes or ():
        servers.setdefault(outcome.client, set()).add(outcome.server)
    assert servers == {"client1": {"rs3"}, "client2": {"rs2"}}


def test_clients_of_sctp_are_translated_where_the_kernel_can_and_else_the_lack_is_named(open_lab_in: OpenLab) -> None:
    """A kernel built without CONFIG_NF_CT_PROTO_SCTP would drop the replies."""
    try:
        with open_lab_in(over_sctp("fullnat")) as lab:
            result = lab.verify()
    except CannotRun as refused:
        assert "no SCTP in its connection tracking (CONFIG_NF_CT_PROTO_SCTP)" in str(refused)
        assert "--kernel uml" in str(refused)
    else:
        assert {item.name: item.seen for item in result.expectations if item.verdict != "pass"} == {}
