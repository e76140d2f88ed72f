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
ARPTABLES = Expected(
    "rs2",
    "rs2 answered ARP for 198.18.0.10",
    "arptables on rs2 does not drop the requests",
    "on rs2: arptables-legacy -A INPUT -d 198.18.0.10 -j DROP",
)
NO_ENTRY = Expected(
    "router",
    "router asked who has 198.18.0.10",
    "router has no permanent neighbour entry for 198.18.0.10",
    "on router: ip neigh replace 198.18.0.10 lladdr 02:00:00:00:03:00 dev eth1 nud permanent",
)
TUNNEL = Expected("rs1", "", "no tunnel device of rs1 takes the packets", "on rs1: modprobe ipip; ip link set tunl0 up")


def hangs(node: str) -> Expected:
    return Expected(node, "3 of 3 calls failed", "follows from the failure of path-mtu", "cure path-mtu first")


GUE = Expected("rs1", "", "no tunnel device of rs1 takes the packets", "ip fou add port 6080 gue")
HYBRID_VIP = Expected(
    "client1", "calls", "nobody answers ARP for 203.0.113.101", "on director2: ip addr add 203.0.113.101/32"
)


MULTI_HOMED_REPLY = Expected(
    "rs2",
    "rs2 answered as 198.18.0.12:3868, which the client never asked",
    "does not answer as the address it was asked by",
    "on rs2",
)


def bypass(arp: Expected) -> Expected:
    return Expected("rs2", "it reached rs2 without passing director", arp.cause, arp.next)


def black_hole(node: str, sender: str) -> Expected:
    return Expected(node, f"{sender} sent 1500 bytes; ", f"{node} drops ICMP: a black hole", "let ICMP type 3 code 4")


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
    "dr-arptables-gone": Fault(
        "dr-arptables",
        {"arp-owner": ARPTABLES, "dr-request": bypass(ARPTABLES)},
        without=["arptables"],
        skipped=frozenset({"scheduler", "statistics"}),
    ),
    "dr-neighbour-gone": Fault(
        "dr-neighbour",
        {"arp-owner": NO_ENTRY, "dr-request": bypass(NO_ENTRY)},
        without=["neighbour"],
        skipped=frozenset({"scheduler", "statistics"}),
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
    "one-packet-nat": Fault(
        "one-packet",
        {
            "nat-reply": Expected(
                "director",
                "left director as 198.18.0.12:5060 instead of 198.18.0.10:5060",
                "director has no entry for this connection",
                "on director: ipvsadm -Lnc",
            ),
            "answered": follows("nat-reply", "rs2", "10 of 10 calls failed"),
        },
        params={"method": "nat"},
    ),
    "ftp-on-a-port-without-helper": Fault(
        "ftp",
        {
            "ftp": Expected(
                "client",
                "client was told to connect to 198.18.0.12 instead of 203.0.113.100",
                "ip_vs_ftp watches port 21 alone",
                "on director: modprobe ip_vs_ftp ports=21,2121",
            )
        },
        params={"port": 2121},
    ),
    "mark-web-without-mark": Fault(
        "mark-web",
        {
            f"{name} tcp/198.18.0.10:{port}": Expected(
                "director",
                seen,
                f"likely: packets to 198.18.0.10:{port} do not get the firewall mark 1",
                "on director: iptables-legacy -t mangle -S PREROUTING",
            )
            for port in (80, 443)
            for name, seen in (("dr-request", "took it in and sent nothing on"), ("answered", "connection refused"))
        },
        without=["mark"],
        skipped=frozenset(
            f"{name} tcp/198.18.0.10:{port}"
            for port in (80, 443)
            for name in ("direct-reply", "scheduler", "statistics", "persistence")
        ),
    ),
    "localnode-server-down": Fault(
        "localnode",
        {
            "answered": Expected(
                "director", "3 of 7 calls failed", "nothing listens on tcp port 80 of director", "start"
            )
        },
        without=["server@director"],
    ),
    "localnode-no-default-route": Fault(
        "localnode",
        {
            "local-delivery": Expected(
                "director",
                "director kept it and never answered",
                "director has no default route",
                "on director: ip route add default via 198.18.0.1",
            ),
            "answered": follows("local-delivery", "director", "3 of 7 calls failed"),
        },
        without=["default_route@director"],
        skipped=frozenset({"scheduler", "statistics"}),
    ),
    "director-client-martian": Fault(
        "director-client",
        {
            "director-client": Expected(
                "director",
                "the answer of rs2 came to director, which did not take it",
                "which director holds itself: it drops a source of its own",
                "accept_local=1",
            ),
            "answered": follows("director-client", "rs2"),
        },
        params={"accept_local": 0},
    ),
    "director-client-vip-missing": Fault(
        "director-client",
        {
            "director-client": Expected(
                "rs1", "never answered", "the VIP 198.18.0.10 is on no device of rs1", "on rs1: ip addr add"
            ),
            "answered": follows("director-client", "rs1", "2 of 5 calls failed"),
        },
        without=["vip@rs1"],
    ),
    "one-arm-nat-client-beside-the-servers": Fault(
        "one-arm-nat",
        {
            "nat-reply": Expected(
                "client",
                "as 198.18.0.12:8080 by way of client, not of director",
                "client is on a network of rs2",
                "on rs2: ip route replace 198.18.0.10/32 via 198.18.0.2",
            ),
            "answered": follows("nat-reply", "rs2"),
        },
        params={"client_on": "inside"},
    ),
    **{
        f"fullnat-without-{setting}": Fault(
            "fullnat",
            {
                "nat-request": Expected(
                    "director",
                    "was sent the source 203.0.113.10:20001, which is no address of director",
                    "director does not forward to rs2 by this method",
                    "iptables-legacy -t nat -S POSTROUTING, sysctl net.ipv4.vs.conntrack",
                ),
                "nat-reply": Expected("rs2", "never answered", "rs2 has no default route", "on rs2: ip route add"),
                "answered": follows("nat-request", "rs2"),
            },
            without=[f"{setting}@director"],
        )
        for setting in ("masquerade", "conntrack")
    },
    **{
        f"sctp-{method}-multi-homed": Fault(
            "sctp",
            {
                "association": Expected(
                    "rs2",
                    "the INIT ACK of rs2 offers 198.18.0.12 and 198.18.2.12",
                    "bound to every address it has",
                    f"bind the server to {address} alone",
                ),
                **consequences,
            },
            without=["single_homed"],
            params={"method": method},
            right={"method": method},
        )
        for method, address, consequences in (
            ("nat", "198.18.0.12", {}),
            ("dr", "198.18.0.10", {"direct-reply": MULTI_HOMED_REPLY}),
        )
    },
    "sctp-no-forwarding": Fault(
        "sctp",
        {
            "nat-reply": forwarding_off("director", "reached director and went no further"),
            "answered": follows("nat-reply", "rs2"),
        },
        without=["ip_forward@director"],
    ),
    "sctp-server-down": Fault(
        "sctp",
        {
            "answered": Expected(
                "rs1", "2 of 5 calls failed", "nothing listens on sctp port 13868 of rs1", "server on rs1"
            )
        },
        without=["server@rs1"],
    ),
    "sctp-dr-vip-missing": Fault(
        "sctp",
        {
            "direct-reply": Expected("rs1", "never answered", "the VIP 198.18.0.10 is on no device of rs1", "on rs1"),
            "answered": follows("direct-reply", "rs1", "2 of 5 calls failed"),
        },
        without=["vip@rs1"],
        params={"method": "dr"},
        right={"method": "dr"},
    ),
    "dr-ipv6-vip-missing": Fault(
        "dr-ipv6",
        {
            "direct-reply": Expected(
                "rs1", "never answered", "the VIP 2001:db8:2::a is on no device of rs1", "ip addr add 2001:db8:2::a/128"
            ),
            "answered": follows("direct-reply", "rs1", "2 of 5 calls failed"),
        },
        without=["vip@rs1"],
    ),
    "nat-ipv6-no-default-route": Fault(
        "nat-ipv6",
        {
            "nat-reply": Expected(
                "rs1", "never answered", "rs1 has no default route", "ip route add default via 2001:db8:2::1"
            ),
            "answered": follows("nat-reply", "rs1", "2 of 5 calls failed"),
        },
        without=["default_route@rs1"],
    ),
    "tun-ipv6-vip-missing": Fault(
        "tun-ipv6",
        {
            "direct-reply": Expected(
                "rs1", "never answered", "the VIP 2001:db8:1::100 is on no device of rs1", "on rs1"
            ),
            "answered": follows("direct-reply", "rs1", "2 of 5 calls failed"),
        },
        without=["vip@rs1"],
    ),
    "tun-mixed-vip-missing": Fault(
        "tun-mixed",
        {
            "direct-reply": Expected("rs1", "never answered", "the VIP 203.0.113.100 is on no device of rs1", "on rs1"),
            "answered": follows("direct-reply", "rs1", "2 of 5 calls failed"),
        },
        without=["vip@rs1"],
    ),
    "tun-gue-rp-filter": Fault(
        "tun-gue",
        {
            "direct-reply": Expected(
                "rs2", "never answered", "rp_filter on rs2 dropped", "net.ipv4.conf.tunl0.rp_filter=0"
            ),
            "answered": follows("direct-reply", "rs2"),
        },
        params={"rp_filter": 1},
    ),
    "tun-gue-no-tunnel-device": Fault(
        "tun-gue",
        {
            "tun-decapsulated": GUE,
            "direct-reply": GUE,
            "answered": Expected("director", "connection refused", GUE.cause, GUE.next),
        },
        without=["tunnel@rs1"],
    ),
    "tun-gre-checksum": Fault(
        "tun-gre",
        {
            name: Expected("rs2", "", "gre0 of rs2 takes no packets with a checksum", "--tun-nocsum")
            for name in ("tun-decapsulated", "direct-reply")
        }
        | {"answered": follows("tun-decapsulated", "rs2")},
        params={"checksum": "csum"},
    ),
    "tun-mtu-black-hole": Fault(
        "tun-mtu",
        {"path-mtu": black_hole("router", "client"), "answered": hangs("director")},
        params={"drop": "icmp"},
    ),
    "tun-mtu-clamp-gone": Fault(
        "tun-mtu-clamp",
        {"path-mtu": black_hole("router", "client"), "answered": hangs("director")},
        without=["clamp_mss"],
    ),
    "tun-mtu-pieces-refused": Fault(
        "tun-mtu-pieces",
        {"path-mtu": black_hole("router", "client"), "answered": hangs("director")},
        params={"pmtu_disc": 1},
    ),
    "tun-mtu-pieces-dropped": Fault(
        "tun-mtu-pieces",
        {
            "tun-request": Expected("router", "no real server received it", "a packet filter drops it", "ip route"),
            "path-mtu": Expected(
                "router",
                "a packet of 1500 bytes came to router:eth1 in 2 pieces",
                "router drops fragments",
                "on router: iptables-legacy -S",
            ),
            "answered": follows("tun-request", "router", "3 of 3 calls failed"),
        },
        params={"drop": "fragments"},
    ),
    "dr-mtu-black-hole": Fault(
        "dr-mtu",
        {"path-mtu": black_hole("director", "rs2"), "answered": hangs("rs2")},
        params={"drop": "icmp"},
    ),
    "hybrid-director-gone": Fault(
        "hybrid",
        {
            "nat-request tcp/203.0.113.101:80": HYBRID_VIP,
            "answered tcp/203.0.113.101:80": HYBRID_VIP,
            "dns-direct": Expected(
                "client1",
                "could not connect to 203.0.113.101 (director2)",
                "DNS goes on handing out its VIP",
                "director2",
            ),
        },
        without=["vip@director2"],
        skipped=frozenset(
            f"{name} tcp/203.0.113.101:80" for name in ("arp-owner", "nat-reply", "scheduler", "statistics")
        ),
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
    assert by_name(first, Verdict.PASS).keys() == {item.name for item in first.expectations}
    skipped = by_name(second, Verdict.SKIP)
    assert by_name(second, Verdict.PASS).keys() | skipped.keys() == by_name(first, Verdict.PASS).keys()
    persistent = any(service.persistence_s for service in lab.topology.services)
    assert {name.split()[0] for name in skipped} == ({"scheduler"} if persistent else set())
    assert all("a template of earlier traffic" in item.cause for item in skipped.values())
