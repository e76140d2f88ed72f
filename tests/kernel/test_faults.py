"""Every fault fails at the expectation it should, names its likely cause, and nothing else fails that should not.

Each row is a cluster with one thing wrong; `control` is the same cluster without it, which must pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lvslab.lab import shipped_topologies
from lvslab.verify.result import Result, TopologyResult, Verdict
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

FILES = Path(__file__).parents[1] / "topologies"
ALLOWED = {Verdict.PASS, Verdict.SKIP}


@dataclass(frozen=True)
class Expected:
    """What one failure must say: where (a node), and words of `seen`, `cause` and `next`."""

    node: str
    seen: str
    cause: str
    next: str


@dataclass(frozen=True)
class Fault:
    """One broken cluster, and its failures by expectation: these and no others."""

    topology: str
    failures: Mapping[str, Expected]
    without: Sequence[str] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    right: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that repair it, where taking `without` and `params` back does not."""
    skipped: frozenset[str] = frozenset()
    """Expectations that this fault leaves nothing to judge by."""


def follows(name: str, node: str, calls: str = "5 of 5 calls failed") -> Expected:
    """Return what `answered` says of a call that another failure explains."""
    return Expected(node, f"{calls}", f"follows from the failure of {name}", f"cure {name} first")


NO_REQUEST = frozenset({"scheduler", "statistics", "arp-owner", "checksums"})
ARP_IGNORE = Expected("rs2", "rs2 answered ARP for 198.18.0.10", "arp_ignore is not in force on rs2", "arp_ignore=1")
ARP_ANNOUNCE = Expected(
    "rs2", "rs2 sent an ARP request as 198.18.0.10", "arp_announce is not in force on rs2", "arp_announce=2"
)
VIP_OF_DIRECTOR = Expected(
    "client", "5 of 5 calls", "nobody answers ARP for 203.0.113.100", "on director: ip addr add 203.0.113.100/32"
)
TUNNEL = Expected("rs1", "", "no tunnel device of rs1 takes the packets", "on rs1: modprobe ipip; ip link set tunl0 up")


def bypass(arp: Expected) -> Expected:
    return Expected("rs2", "it reached rs2 without passing director", arp.cause, arp.next)


def server_down(node: str, port: int) -> Expected:
    return Expected(node, "2 of 5 calls failed", f"nothing listens on tcp port {port} of {node}", f"server on {node}")


def forwarding_off(node: str, seen: str) -> Expected:
    return Expected(node, seen, f"ip_forward is 0 on {node}", f"on {node}: sysctl -w net.ipv4.ip_forward=1")


FAULTS = {
    "dr-arp-ignore": Fault(
        "dr",
        {"arp-owner": ARP_IGNORE, "dr-request": bypass(ARP_IGNORE)},
        without=["arp_ignore"],
        skipped=frozenset({"scheduler", "statistics"}),
    ),
    "dr-arp-announce": Fault(
        "dr", {"arp-owner": ARP_ANNOUNCE, "dr-request": bypass(ARP_ANNOUNCE)}, without=["arp_announce"]
    ),
    "dr-arp-announce-on-one-network": Fault(
        "dr-one-network.yaml",
        {"arp-owner": ARP_ANNOUNCE, "dr-request": bypass(ARP_ANNOUNCE)},
        without=["arp_announce"],
    ),
    "dr-vip-24": Fault(
        "dr",
        {
            "direct-reply": Expected(
                "rs2", "last seen at rs2:lo", "rs2 has 198.18.0.10/24 on lo", "ip addr add 198.18.0.10/32 dev lo"
            ),
            "answered": follows("direct-reply", "rs2"),
        },
        params={"vip_prefix": 24},
    ),
    "dr-vip-missing": Fault(
        "dr",
        {
            "direct-reply": Expected(
                "rs1",
                "rs1 received it and never answered",
                "the VIP 198.18.0.10 is on no device of rs1",
                "on rs1: ip addr add 198.18.0.10/32 dev lo",
            ),
            "answered": follows("direct-reply", "rs1", "2 of 5 calls failed"),
        },
        without=["vip@rs1"],
    ),
    "dr-no-default-route": Fault(
        "dr",
        {
            "direct-reply": Expected(
                "rs1", "never answered", "rs1 has no default route", "on rs1: ip route add default via 198.18.0.1"
            ),
            "answered": follows("direct-reply", "rs1", "2 of 5 calls failed"),
        },
        without=["default_route@rs1"],
    ),
    "dr-server-down": Fault("dr", {"answered": server_down("rs1", 80)}, without=["server@rs1"]),
    "dr-director-without-vip": Fault(
        "dr",
        {
            "dr-request": Expected(
                "router",
                "it never reached director; it was last seen at router",
                "nobody answers ARP for 198.18.0.10",
                "on director: ip addr add 198.18.0.10/32 dev eth0",
            ),
            "answered": follows("dr-request", "router"),
        },
        without=["vip@director"],
        skipped=NO_REQUEST | {"direct-reply"},
    ),
    "dr-router-forwards-nothing": Fault(
        "dr",
        {
            "dr-request": forwarding_off("router", "it never reached director; it was last seen at router"),
            "answered": follows("dr-request", "router"),
        },
        without=["ip_forward@router"],
        skipped=NO_REQUEST | {"direct-reply"},
    ),
    "dr-client-without-route": Fault(
        "dr",
        {
            name: Expected("client", "5 of 5 calls", "client has no route to 198.18.0.10", "default via 203.0.113.1")
            for name in ("dr-request", "answered")
        },
        without=["default_route@client"],
        skipped=NO_REQUEST | {"direct-reply", "capture-complete"},
    ),
    "dr-all-weights-0": Fault(
        "dr-weights.yaml",
        {
            "dr-request": Expected(
                "director", "took it in and sent nothing on", "has a weight above 0", "on director: ipvsadm -Ln"
            ),
            "answered": Expected("director", "connection refused", "has a weight above 0", "on director: ipvsadm -Ln"),
        },
        right={"weight1": 1, "weight2": 2},
        skipped=frozenset({"direct-reply", "statistics"}),
    ),
    "dr-gateway-is-the-director": Fault(
        "dr-gateway-director.yaml",
        {
            "direct-reply": Expected(
                "director",
                "the reply of rs2 came to director",
                "the default gateway of rs2 is director; director holds 203.0.113.100 itself",
                "on rs2: ip route replace default via 198.18.0.1",
            ),
            "answered": follows("direct-reply", "rs2"),
        },
        right={"gateway": "router"},
    ),
    "nat-gateway-elsewhere": Fault(
        "nat-wrong-gateway.yaml",
        {
            "nat-reply": Expected(
                "client",
                "as 198.18.0.12:8080 by way of router, not of director",
                "the default gateway of rs2 is not director (it has 198.18.0.3)",
                "on rs2: ip route replace default via 198.18.0.1",
            ),
            "answered": follows("nat-reply", "rs2"),
        },
        right={"gateway": "director"},
    ),
    "nat-no-default-route": Fault(
        "nat",
        {
            "nat-reply": Expected(
                "rs1", "never answered", "rs1 has no default route", "on rs1: ip route add default via 198.18.0.1"
            ),
            "answered": follows("nat-reply", "rs1", "2 of 5 calls failed"),
        },
        without=["default_route@rs1"],
    ),
    "nat-director-forwards-nothing": Fault(
        "nat",
        {
            "nat-reply": forwarding_off("director", "the reply of rs2 reached director and went no further"),
            "answered": follows("nat-reply", "rs2"),
        },
        without=["ip_forward@director"],
    ),
    "nat-server-down": Fault("nat", {"answered": server_down("rs1", 8080)}, without=["server@rs1"]),
    "nat-director-without-vip": Fault(
        "nat",
        {"nat-request": VIP_OF_DIRECTOR, "answered": VIP_OF_DIRECTOR},
        without=["vip@director"],
        skipped=NO_REQUEST | {"nat-reply"},
    ),
    "tun-rp-filter": Fault(
        "tun",
        {
            "direct-reply": Expected(
                "rs2", "never answered", "rp_filter on rs2 dropped", "net.ipv4.conf.tunl0.rp_filter=0"
            ),
            "answered": follows("direct-reply", "rs2"),
        },
        params={"rp_filter": 1},
    ),
    "tun-vip-missing": Fault(
        "tun",
        {
            "direct-reply": Expected(
                "rs1", "never answered", "the VIP 203.0.113.100 is on no device of rs1", "on rs1: ip addr add"
            ),
            "answered": follows("direct-reply", "rs1", "2 of 5 calls failed"),
        },
        without=["vip@rs1"],
    ),
    "tun-no-tunnel-device": Fault(
        "tun",
        {
            "tun-decapsulated": TUNNEL,
            "direct-reply": TUNNEL,
            "answered": Expected("director", "connection refused", TUNNEL.cause, TUNNEL.next),
        },
        without=["tunnel@rs1"],
    ),
    "tun-server-down": Fault("tun", {"answered": server_down("rs1", 80)}, without=["server@rs1"]),
    "tun-director-without-vip": Fault(
        "tun",
        {"tun-request": VIP_OF_DIRECTOR, "answered": VIP_OF_DIRECTOR},
        without=["vip@director"],
        skipped=NO_REQUEST | {"tun-decapsulated", "direct-reply"},
    ),
    "tun-router-forwards-nothing": Fault(
        "tun",
        {
            "tun-request": forwarding_off("router", "director sent it on, but no real server received it"),
            "answered": follows("tun-request", "router"),
        },
        without=["ip_forward@router"],
        skipped=frozenset({"tun-decapsulated", "direct-reply"}),
    ),
    "rr-dns-server-down": Fault(
        "rr-dns",
        {
            "dns-direct": Expected(
                "rs1", "(rs1) and got no answer", "nothing listens on that port of rs1; DNS goes on", "on rs1: ss -ltn"
            )
        },
        without=["server@rs1"],
    ),
    "rr-dns-name-server-out-of-reach": Fault(
        "rr-dns",
        {
            "dns-cache": Expected(
                "resolver", "and asked ns nothing", "resolver has no default route", "default via 203.0.113.1"
            )
        },
        without=["default_route@resolver"],
    ),
    "rr-dns-router-forwards-nothing": Fault(
        "rr-dns",
        {
            "dns-rotation": forwarding_off("router", "client1 asked ns and got no answer"),
            "dns-cache": forwarding_off("router", "resolver asked ns and got no answer"),
        },
        without=["ip_forward@router"],
        skipped=frozenset({"dns-direct"}),
    ),
    "rr-dns-client-without-route": Fault(
        "rr-dns",
        {
            "dns-rotation": Expected("client1", "could not ask ns", "client1 has no default route", "on client1: ip"),
            "dns-direct": Expected("client1", "could not connect", "client1 has no default route", "on client1: ip"),
        },
        without=["default_route@client1"],
    ),
}


def verified(
    open_lab_in: OpenLab, fault: Fault, *, without: Sequence[str] = (), params: Mapping[str, Any]
) -> TopologyResult:
    topology = FILES / fault.topology if fault.topology.endswith(".yaml") else fault.topology
    with open_lab_in(topology, without=without, **params) as lab:
        return lab.verify()


def by_name(result: TopologyResult, verdict: Verdict) -> dict[str, Result]:
    return {expectation.name: expectation for expectation in result.expectations if expectation.verdict is verdict}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_fails_where_it_should_and_names_its_cause(open_lab_in: OpenLab, name: str) -> None:
    fault = FAULTS[name]
    result = verified(open_lab_in, fault, without=fault.without, params=fault.params)
    failed = by_name(result, Verdict.FAIL)
    assert failed.keys() == fault.failures.keys()
    assert by_name(result, Verdict.ERROR) == {}
    assert by_name(result, Verdict.SKIP).keys() <= fault.skipped
    for expectation, expected in fault.failures.items():
        found = failed[expectation]
        assert found.where.split(":")[0] == expected.node
        assert expected.seen in found.seen
        assert expected.cause in found.cause
        assert expected.next in found.next


CONTROLS = {(fault.topology, tuple(fault.right.items())): fault for fault in FAULTS.values()}


@pytest.mark.parametrize("fault", CONTROLS.values(), ids=lambda fault: fault.topology)
def test_without_the_fault_everything_passes(open_lab_in: OpenLab, fault: Fault) -> None:
    result = verified(open_lab_in, fault, params=fault.right)
    assert {item.name: item.verdict for item in result.expectations if item.verdict is not Verdict.PASS} == {}


def test_udp_and_several_services_are_judged_one_by_one(open_lab_in: OpenLab) -> None:
    with open_lab_in(FILES / "udp-services.yaml") as lab:
        result = lab.verify()
    assert {item.name: item.seen for item in result.expectations if item.verdict is not Verdict.PASS} == {}
    services = ("tcp/198.18.0.10:7", "udp/198.18.0.10:7", "udp/203.0.113.100:5000")
    answered = [item.name for item in result.expectations if item.name.startswith("answered")]
    assert answered == [f"answered {service}" for service in services]


def test_a_udp_server_that_is_down_is_named(open_lab_in: OpenLab) -> None:
    with open_lab_in(FILES / "udp-services.yaml", without=["server@back1", "server@rs2"]) as lab:
        result = lab.verify()
    failed = by_name(result, Verdict.FAIL)
    assert {name: item.cause for name, item in failed.items()} == {
        "answered tcp/198.18.0.10:7": "nothing listens on tcp port 7 of rs2",
        "answered udp/198.18.0.10:7": "nothing listens on udp port 7 of rs2",
        "answered udp/203.0.113.100:5000": "nothing listens on udp port 6000 of back1",
    }
    assert by_name(result, Verdict.ERROR) == {}


@pytest.mark.parametrize(
    "topology", [*shipped_topologies(), FILES / "udp-services.yaml"], ids=lambda item: Path(item).stem
)
def test_a_second_run_in_the_same_lab_has_the_same_verdicts(open_lab_in: OpenLab, topology: str | Path) -> None:
    with open_lab_in(topology) as lab:
        first, second = lab.verify(), lab.verify()
    assert {item.name: item.verdict for item in first.expectations} == {
        item.name: item.verdict for item in second.expectations
    }
    assert by_name(second, Verdict.PASS).keys() == {item.name for item in second.expectations}
