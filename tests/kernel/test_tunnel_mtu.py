"""Path MTU and tunnels: a full-sized request does not fit once it is wrapped; what then happens, and the cures.

The client sends one request larger than a packet through the shipped `tun`. The outer header takes 20 bytes of the
director's 1500 (net/netfilter/ipvs/ip_vs_xmit.c: ip_vs_tunnel_xmit; RFC 1191 for the answer).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from lvslab.capture.dissect import dissect
from lvslab.capture.frame import Capture, Direction, Frame
from lvslab.capture.packet import Icmp, Packet
from lvslab.lab import Lab
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

VIP, CLIENT = "203.0.113.100", "203.0.113.10"
REQUEST_BYTES = 8000
OUTER_BYTES = 20
INNER_MTU = 1500 - OUTER_BYTES
NEED_FRAGMENTATION = (3, 4)
CURL_TIMED_OUT = 28
BLACK_HOLE = ("iptables-legacy", "-I", "INPUT", "-p", "icmp", "-j", "DROP")
CLAMP = ("iptables-legacy", "-t", "mangle", "-A", "POSTROUTING", "-p", "tcp", "--tcp-flags", "SYN,RST", "SYN")


@dataclass(frozen=True)
class Seen:
    """What one large request left: whether it was answered, and what was on the way."""

    status: int
    server: str
    need_fragmentation: Sequence[Packet]
    """At the client."""
    inner: Sequence[int]
    """IP lengths of the client's packets inside those that came to the servers."""
    client_sent: Sequence[int]
    fragments: int
    """Outer packets in pieces that the director sent."""


@dataclass(frozen=True)
class Case:
    commands: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """By node, before the request."""
    answered: bool = True
    told: bool = False
    """Whether need-frag comes to the client's interface."""
    fragments: bool = False
    largest: int | None = INNER_MTU
    """Of the client's packets, at a server; None: full-sized, and so in pieces."""


CASES = {
    "told": Case(told=True),
    "black-hole": Case({"client": [BLACK_HOLE]}, answered=False, told=True),
    "black-hole-clamped-at-the-servers": Case(
        {
            "client": [BLACK_HOLE],
            **{rs: [(*CLAMP, "-j", "TCPMSS", "--set-mss", "1440")] for rs in ("rs1", "rs2")},
        }
    ),
    "black-hole-with-outer-fragments": Case(
        {"client": [BLACK_HOLE], "director": [("sysctl", "-q", "-w", "net.ipv4.vs.pmtu_disc=0")]},
        fragments=True,
        largest=None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_request_too_large_for_the_tunnel(open_lab_in: OpenLab, name: str) -> None:
    case = CASES[name]
    with open_lab_in("tun") as lab:
        for node, commands in case.commands.items():
            for command in commands:
                done = lab.node(node).run(*command)
                assert done.status == 0, done.output
        seen = send_large_request(lab)
    assert (seen.status == 0, seen.server in ("rs1", "rs2")) == (case.answered, case.answered)
    assert seen.status in (0, CURL_TIMED_OUT)
    assert bool(seen.need_fragmentation) == case.told
    for packet in seen.need_fragmentation:
        assert packet.source is not None
        assert isinstance(packet.transport, Icmp)
        assert (packet.source.address, packet.transport.rest) == (VIP, INNER_MTU)
    assert bool(seen.fragments) == case.fragments
    if case.answered and case.largest is not None:
        assert max(seen.inner) == case.largest
    else:
        assert max(seen.client_sent) == 1500
        assert max(seen.inner) < INNER_MTU


def send_large_request(lab: Lab) -> Seen:
    padding = f"X-Padding: {'x' * REQUEST_BYTES}"
    with lab.record() as recording:
        done = lab.node("client").run("curl", "-q", "-s", "--max-time", "4", "-H", padding, f"http://{VIP}/")
    return seen_in(recording.finished(), done.status, done.output)


def seen_in(capture: Capture, status: int, output: str) -> Seen:
    packets = [(frame, dissect(frame)) for frame in capture.frames]
    at_client = [(frame, packet) for frame, packet in packets if frame.node == "client"]
    return Seen(
        status,
        output.partition("\n")[0],
        [packet for frame, packet in at_client if frame.direction is Direction.IN and is_need_fragmentation(packet)],
        [
            size(packet)
            for frame, packet in packets
            if frame.node.startswith("rs") and packet.tunnels and is_from_client(packet)
        ],
        [size(packet) for frame, packet in at_client if is_from_client(packet)],
        sum(frame.node == "director" and is_fragment(frame) for frame, _ in packets),
    )


def is_need_fragmentation(packet: Packet) -> bool:
    return isinstance(packet.transport, Icmp) and packet.transport[:2] == NEED_FRAGMENTATION


def is_from_client(packet: Packet) -> bool:
    return packet.ip is not None and packet.ip.source == CLIENT


def size(packet: Packet) -> int:
    return packet.ip.total_bytes if packet.ip else 0


def is_fragment(frame: Frame) -> bool:
    """Read the outer header itself (RFC 791): more fragments, or not the first."""
    header = frame.data[14:34]
    outgoing = frame.direction is Direction.OUT and frame.data[12:14] == b"\x08\x00"
    return outgoing and bool(int.from_bytes(header[6:8], "big") & 0x3FFF)
