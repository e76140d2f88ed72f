"""URLs as tests write them."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from lvslab.errors import BadInput
from lvslab.testing.url import Callee, callee
from lvslab.topology import load_topology
from lvslab.topology.model import Protocol

DR, DR6 = load_topology("dr"), load_topology("dr-ipv6")


@pytest.mark.parametrize(
    ("url", "address", "port", "protocol"),
    [
        ("http://198.18.0.10/", "198.18.0.10", 80, Protocol.TCP),
        ("http://198.18.0.10:8080", "198.18.0.10", 8080, Protocol.TCP),
        ("http://vip/", "198.18.0.10", 80, Protocol.TCP),
        ("http://rs2/", "198.18.0.12", 80, Protocol.TCP),
        ("udp://vip:5060", "198.18.0.10", 5060, Protocol.UDP),
        ("sctp://[2001:db8::1]:3868", "2001:db8::1", 3868, Protocol.SCTP),
    ],
)
def test_whom_a_url_names(url: str, address: str, port: int, protocol: Protocol) -> None:
    assert callee(url, DR) == Callee(ip_address(address), port, protocol)


def test_the_vip_may_be_ipv6() -> None:
    assert callee("http://vip/", DR6).address == ip_address("2001:db8:2::a")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("198.18.0.10", "cannot be called"),
        ("https://vip/", "cannot be called"),
        ("http://vip/images", "record\\(\\) shows"),
        ("http://", "cannot be called"),
        ("udp://vip", "no port"),
        ("http://vip:99999/", "not a URL"),
        ("http://[::1/", "not a URL"),
        ("http://rs9/", "no host 'rs9'"),
    ],
)
def test_what_cannot_be_called(url: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        callee(url, DR)
