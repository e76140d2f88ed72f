"""Reading a node's state from the kernel's own tables, and what it tells."""

from __future__ import annotations

import pytest

from lvslab.sandbox.facts import counters, default_gateways, default_gateways_ipv6, sctp_ports, udp_ports
from lvslab.verify.evidence import NodeFacts

ROUTE = """\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010012C6\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000012C6\t00000000\t0001\t0\t0\t0\t00FEFFFF\t0\t0\t0
"""
ZEROS = "0" * 32
IPV6_ROUTE = f"""\
20010db8000200000000000000000000 40 {ZEROS} 00 {ZEROS} 00000100 00000001 00000000 00000001     eth0
{ZEROS} 00 {ZEROS} 00 20010db8000200000000000000000001 00000400 00000001 00000000 00000003     eth0
{ZEROS} 00 {ZEROS} 00 {ZEROS} ffffffff 00000001 00000000 00200200       lo
"""
UDP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
   10: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 0
   11: 0A007FC6:A000 0B0012C6:0035 01 00000000:00000000 00:00000000 00000000     0        0 1 2 0 0
"""


def test_default_gateways_of_both_families() -> None:
    assert default_gateways(ROUTE) == ("198.18.0.1",)
    assert default_gateways("Iface\tDestination\n") == ()
    assert default_gateways_ipv6(IPV6_ROUTE) == ("2001:db8:2::1",)
    assert default_gateways_ipv6("") == ()


def test_only_unconnected_udp_sockets_are_servers() -> None:
    assert udp_ports(UDP) == {53}


SCTP = """\
 ENDPT     SOCK   STY SST HBKT LPORT   UID INODE LADDRS
0000000062a0e000 0000000062b3e880 2   10  48   3868      0  1042 198.18.0.10
0000000062a0e800 0000000062b3f180 2   1   50   20001     0  1043 203.0.113.10
"""


def test_only_listening_sctp_endpoints_are_servers() -> None:
    assert sctp_ports(SCTP) == {3868}
    assert sctp_ports(" ENDPT     SOCK\n") == set()


def test_counters_come_in_pairs_of_lines() -> None:
    text = "TcpExt: SyncookiesSent IPReversePathFilter\nTcpExt: 1 7\nIpExt: InNoRoutes\nIpExt: 3\n"
    assert counters(text) == {"SyncookiesSent": 1, "IPReversePathFilter": 7, "InNoRoutes": 3}


@pytest.mark.parametrize(
    ("address", "holder"), [("192.0.2.100", ("lo", 32)), ("2001:db8::1", ("eth0", 64)), ("192.0.2.1", None)]
)
def test_who_holds_an_address(address: str, holder: tuple[str, int] | None) -> None:
    facts = NodeFacts(addresses={"lo": ("127.0.0.1/8", "192.0.2.100/32"), "eth0": ("2001:db8::1/64",)})
    assert facts.holder_of(address) == holder
