"""ICMP errors by each forwarding method: they come to who must hear them, with the addresses that one knows.

A server without its program answers a datagram with port unreachable. By NAT the director rewrites it, the quoted
packet included (RFC 5508; net/netfilter/ipvs/ip_vs_core.c: ip_vs_out_icmp); by DR and TUN the server sends it as the
VIP.
"""

from __future__ import annotations

import pytest

from lvslab.capture.frame import Direction
from lvslab.capture.packet import Icmp
from lvslab.capture.quoted import quoted
from lvslab.walk.model import Hop
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

CLIENT, VIP = "203.0.113.10", "198.18.0.10"
PORT_UNREACHABLE = (3, 3)


def addresses(hop: Hop) -> tuple[object, ...]:
    """Return who sent an ICMP error to whom, and the ends of the packet that it quotes."""
    about = quoted(hop.packet)
    assert hop.source is not None
    assert hop.destination is not None
    assert about is not None
    assert about.ports is not None
    return hop.source.address, hop.destination.address, about.ip.source, about.ip.destination, about.ports[1]


@pytest.mark.parametrize("method", ["nat", "dr", "tun"])
def test_port_unreachable_reaches_the_client_as_from_the_vip(open_lab_in: OpenLab, method: str) -> None:
    with open_lab_in("udp", method=method, real_servers=1, without=["server"]) as lab:
        examination = lab.examine()
    evidence = examination.evidence
    assert {outcome.status for outcome in evidence.outcomes or ()} == {"ECONNREFUSED"}
    errors = [walk for conversation in evidence.walks.conversations for walk in conversation.errors]
    assert {walk.origin.node for walk in errors} == {"rs1"}
    for walk in errors:
        assert isinstance(walk.origin.packet.transport, Icmp)
        assert walk.origin.packet.transport[:2] == PORT_UNREACHABLE
        (end,) = walk.receivers
        assert (end.node, end.direction) == ("client", Direction.IN)
        assert addresses(end) == (VIP, CLIENT, CLIENT, VIP, 5060)
        sent = ("198.18.0.11", "198.18.0.11") if method == "nat" else (VIP, VIP)
        assert addresses(walk.origin) == (sent[0], CLIENT, CLIENT, sent[1], 5060)
        assert bool(walk.at("director")) == (method == "nat")
    failed = {item.name: item.cause for item in examination.result.expectations if item.verdict == "fail"}
    assert failed == {"answered": "nothing listens on udp port 5060 of rs1"}
