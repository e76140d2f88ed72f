from __future__ import annotations

from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6

from lvslab.capture.dissect import dissect
from lvslab.capture.quoted import quoted
from tests.unit.capture.frames import raw

SEGMENT = IP(src="192.0.2.1", dst="192.0.2.2", id=9) / TCP(sport=5, dport=80, seq=0x01020304)


@pytest.mark.parametrize("quoted_bytes", [28, 40, 60])
def test_an_error_quotes_ports_and_sequence_however_little_it_quotes(quoted_bytes: int) -> None:
    error = IP() / ICMP(type=3, code=4) / bytes(SEGMENT / (b"x" * 100))[:quoted_bytes]
    about = quoted(dissect(raw(error)))
    assert about is not None
    assert (about.ip.source, about.ip.identification, about.ports) == ("192.0.2.1", 9, (5, 80))
    assert about.invariant == b"\x01\x02\x03\x04"


def test_an_icmpv6_error_quotes_too() -> None:
    about = quoted(
        dissect(raw(IPv6() / ICMPv6PacketTooBig(mtu=1480) / IPv6(src="2001:db8::1") / UDP(sport=7, dport=8)))
    )
    assert about is not None
    assert about.ports == (7, 8)


@pytest.mark.parametrize(
    "packet",
    [
        IP() / ICMP(type=8),
        IP() / UDP(),
        IPv6() / ICMPv6EchoRequest(),
        IP() / ICMP(type=3) / b"rubbish",
        IP() / ICMP(type=3) / bytes(SEGMENT)[:27],
    ],
    ids=["echo", "udp", "echo v6", "nothing readable", "less than 8 bytes"],
)
def test_what_quotes_nothing(packet: Any) -> None:
    assert quoted(dissect(raw(packet))) is None
