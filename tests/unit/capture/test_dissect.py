"""The decoder, layer by layer, with scapy as the one who builds and who reads independently."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import GRE, ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_RR
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6ND_NS,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
)
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.layers.sctp import SCTP, SCTPChunkData, SCTPChunkInit, SCTPChunkSACK
from scapy.packet import Raw

from lvslab.capture.dissect import dissect
from lvslab.capture.packet import Arp, Icmp, Sctp, Tcp, Udp
from tests.unit.capture.frames import frame, raw

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
V4 = IP(src="198.51.100.10", dst="192.0.2.100", id=7, flags="DF", ttl=63)
V6 = IPv6(src="2001:db8::10", dst="2001:db8:1::100", hlim=63)
OUTER4 = IP(src="203.0.113.2", dst="198.18.0.11", ttl=60)
OUTER6 = IPv6(src="2001:db8:2::2", dst="2001:db8:3::11", hlim=60)
SYN = TCP(sport=40000, dport=80, flags="S", seq=1000, options=[("MSS", 1460), ("Timestamp", (5, 0))])
DATAGRAM = UDP(sport=5000, dport=53) / b"question"


def test_ethernet_ipv4_tcp() -> None:
    packet = dissect(frame(ETHER / V4 / SYN / b"data"))
    assert packet.ethernet and packet.ip
    assert (packet.ethernet.source, packet.ethernet.destination) == (ETHER.src, ETHER.dst)
    assert packet.ethernet.ethertype == 0x0800
    assert (packet.ip.source, packet.ip.destination, packet.ip.ttl) == ("198.51.100.10", "192.0.2.100", 63)
    assert (packet.ip.identification, packet.ip.dont_fragment, packet.ip.more_fragments) == (7, True, False)
    assert isinstance(packet.transport, Tcp)
    assert (packet.ports, packet.transport.sequence, packet.transport.flags) == ((40000, 80), 1000, "S")
    assert packet.payload == b"data"
    assert packet.bad_checksums == ()


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ("S", "S"),
        ("SA", "S."),
        ("A", "."),
        ("PA", "P."),
        ("FA", "F."),
        ("FPA", "FP."),
        ("R", "R"),
        ("SEC", "SEW"),
        ("", "none"),
    ],
)
def test_tcp_flags_are_written_as_tcpdump_does(flags: str, text: str) -> None:
    transport = dissect(frame(ETHER / V4 / TCP(flags=flags))).transport
    assert isinstance(transport, Tcp)
    assert transport.flags == text


def test_arp() -> None:
    question = ARP(op=1, hwsrc="02:00:00:00:00:01", psrc="192.0.2.1", pdst="192.0.2.100")
    packet = dissect(frame(ETHER / question))
    assert packet.arp == Arp(1, "02:00:00:00:00:01", "192.0.2.1", "00:00:00:00:00:00", "192.0.2.100")
    assert packet.ip is None
    assert packet.payload == b""


def test_ethernet_padding_is_not_payload() -> None:
    short = bytes(ETHER / V4 / UDP() / b"x")
    assert dissect(frame(short + bytes(60 - len(short)))).payload == b"x"


@pytest.mark.parametrize("tags", [Dot1Q(vlan=5), Dot1AD(vlan=7) / Dot1Q(vlan=5)], ids=["802.1Q", "802.1ad"])
def test_vlan_tags_are_skipped(tags: Any) -> None:
    packet = dissect(frame(ETHER / tags / V4 / SYN))
    assert packet.ports == (40000, 80)
    assert packet.ethernet and packet.ethernet.ethertype == 0x0800


def test_ipv4_options_are_skipped() -> None:
    packet = dissect(frame(ETHER / IP(options=[IPOption_NOP(), IPOption_RR(routers=["192.0.2.1"])]) / SYN))
    assert packet.ports == (40000, 80)
    assert packet.bad_checksums == ()


@pytest.mark.parametrize(
    "extensions",
    [
        IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 2)]),
        IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 10)]),
        IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt(),
        IPv6ExtHdrFragment(id=9),
    ],
    ids=["hop-by-hop", "destination options", "two", "atomic fragment"],
)
def test_ipv6_extension_headers_are_skipped(extensions: Any) -> None:
    packet = dissect(frame(ETHER / V6 / extensions / SYN / b"data"))
    assert packet.ports == (40000, 80)
    assert packet.ip and packet.ip.protocol == 6
    assert packet.payload == b"data"
    assert packet.bad_checksums == ()


def test_checksum_behind_a_routing_header_is_not_judged() -> None:
    routed = V6 / IPv6ExtHdrRouting(addresses=["2001:db8::99"], segleft=1) / SYN
    damaged = bytearray(bytes(ETHER / routed))
    damaged[-1] ^= 1
    assert dissect(frame(damaged)).bad_checksums == ()


GUE = UDP(sport=1234, dport=6080)
GUE_V4, GUE_V6 = b"\x00\x04\x00\x00", b"\x00\x29\x00\x00"


def inside(header: bytes, ip: Any) -> Raw:
    """Return a packet as raw bytes: scapy does not know GUE, and would compute no checksums behind it."""
    return Raw(header + bytes(ip / SYN / b"data"))


TUNNELS = [
    ("ipip", OUTER4 / V4 / SYN / b"data"),
    ("sit", OUTER4 / V6 / SYN / b"data"),
    ("ip6ip6", OUTER6 / V6 / SYN / b"data"),
    ("ip4ip6", OUTER6 / V4 / SYN / b"data"),
    ("gre", OUTER4 / GRE() / V4 / SYN / b"data"),
    ("gre", OUTER4 / GRE(chksum_present=1) / V4 / SYN / b"data"),
    ("gre", OUTER4 / GRE(key_present=1, key=5, seqnum_present=1) / V6 / SYN / b"data"),
    ("gre", OUTER6 / GRE() / V4 / SYN / b"data"),
    ("gue", OUTER4 / GUE / inside(GUE_V4, V4)),
    ("gue", OUTER6 / GUE / inside(GUE_V6, V6)),
    ("gue", OUTER4 / GUE / inside(b"", V4)),
]


@pytest.mark.parametrize(("kind", "layers"), TUNNELS)
def test_tunnels_are_opened(kind: str, layers: Any) -> None:
    packet = dissect(frame(ETHER / layers))
    assert [tunnel.kind for tunnel in packet.tunnels] == [kind]
    assert packet.tunnels[0].ip.ttl == 60
    assert packet.ip and packet.ip.ttl == 63
    assert packet.ports == (40000, 80)
    assert packet.payload == b"data"
    assert packet.bad_checksums == ()


def test_tunnel_in_a_tunnel() -> None:
    packet = dissect(frame(ETHER / OUTER6 / OUTER4 / V4 / SYN))
    assert [tunnel.kind for tunnel in packet.tunnels] == ["ip4ip6", "ipip"]


def test_udp_is_gue_only_on_the_given_ports() -> None:
    inner = Raw(GUE_V4 + bytes(V4 / SYN))
    elsewhere = frame(ETHER / OUTER4 / UDP(sport=6080, dport=5000) / inner)
    assert dissect(elsewhere).tunnels == ()
    assert dissect(elsewhere).ports == (6080, 5000)
    assert dissect(elsewhere, gue_ports=frozenset({5000})).tunnels[0].udp_ports == (6080, 5000)


def test_ordinary_udp_on_the_gue_port_stays_udp() -> None:
    assert dissect(frame(ETHER / V4 / UDP(dport=6080) / b"hello, not a tunnel")).tunnels == ()


def test_gue_control_message_is_not_opened() -> None:
    control = Raw(b"\x20\x04\x00\x00" + bytes(V4 / SYN))
    assert dissect(frame(ETHER / OUTER4 / UDP(dport=6080) / control)).tunnels == ()


def test_gue_remote_checksum_leaves_the_inner_checksum_unjudged() -> None:
    inner = bytearray(bytes(V4 / SYN))
    inner[-1] ^= 1
    private = b"\x02\x04\x00\x01" + b"\x80\x00\x00\x00" + b"\x00\x14\x00\x24"
    packet = dissect(frame(ETHER / OUTER4 / UDP(dport=6080) / Raw(private + bytes(inner))))
    assert packet.tunnels[0].kind == "gue"
    assert packet.bad_checksums == ()


def test_raw_ip_has_no_link_header() -> None:
    packet = dissect(raw(V6 / SYN))
    assert packet.ethernet is None
    assert packet.ports == (40000, 80)


def test_first_fragment_has_ports_and_later_ones_do_not() -> None:
    first = dissect(frame(ETHER / IP(flags="MF", id=5) / UDP(sport=1, dport=2, len=2000) / (b"x" * 100)))
    later = dissect(frame(ETHER / IP(frag=10, id=5, proto=17) / (b"y" * 100)))
    assert first.ports == (1, 2) and first.ip and first.ip.more_fragments
    assert later.ports is None and later.payload == b"y" * 100
    assert later.ip and later.ip.fragment_offset == 80
    assert first.bad_checksums == later.bad_checksums == ()


def test_fragment_of_a_tunnel_packet_is_not_opened() -> None:
    packet = dissect(frame(ETHER / IP(flags="MF", proto=4) / V4 / SYN))
    assert packet.tunnels == ()
    assert packet.ip and packet.ip.protocol == 4


def damage(layers: Any, offset: int) -> bytes:
    packed = bytearray(bytes(layers))
    packed[offset] ^= 0x55
    return bytes(packed)


CHECKSUMS = [
    ("ip", ETHER / V4 / SYN, 14 + 8),
    ("tcp", ETHER / V4 / SYN / b"data", -1),
    ("tcp", ETHER / V6 / SYN / b"odd", -1),
    ("udp", ETHER / V4 / DATAGRAM, -1),
    ("udp", ETHER / V6 / DATAGRAM, -1),
    ("icmp", ETHER / V4 / ICMP() / b"ping", -1),
    ("icmp", ETHER / V6 / ICMPv6EchoRequest(data=b"ping"), -1),
    ("outer ip", ETHER / OUTER4 / V4 / SYN, 14 + 8),
    ("gre", ETHER / OUTER4 / GRE(chksum_present=1) / V4 / UDP(chksum=0) / b"data", -1),
    ("outer udp", ETHER / OUTER4 / UDP(dport=6080) / V4 / UDP(chksum=0) / b"data", -1),
]


@pytest.mark.parametrize(("name", "layers", "offset"), CHECKSUMS)
def test_each_checksum_is_verified(name: str, layers: Any, offset: int) -> None:
    assert dissect(frame(layers)).bad_checksums == ()
    assert dissect(frame(damage(layers, offset))).bad_checksums == (name,)


def test_no_udp_checksum_is_right_in_ipv4_and_wrong_in_ipv6() -> None:
    assert dissect(frame(ETHER / V4 / UDP(chksum=0) / b"x")).bad_checksums == ()
    assert dissect(frame(ETHER / V6 / UDP(chksum=0) / b"x")).bad_checksums == ("udp",)


@pytest.mark.parametrize("layers", [ETHER / V4 / SYN / b"data", ETHER / V6 / DATAGRAM])
def test_checksum_is_not_judged_when_left_to_hardware_or_cut_short(layers: Any) -> None:
    damaged = damage(layers, -1)
    assert dissect(frame(damaged)).bad_checksums
    assert dissect(frame(damaged, checksum_ready=False)).bad_checksums == ()
    assert dissect(frame(damaged[:-1], wire_bytes=len(damaged))).bad_checksums == ()


ADDRESS4 = st.ip_addresses(v=4).map(str)
ADDRESS6 = st.ip_addresses(v=6).map(str)
PORT = st.integers(1, 65535).filter(lambda port: port != 6080)
DATA = st.binary(max_size=80)


@st.composite
def packets(draw: st.DrawFn) -> Any:
    """Any stack of supported layers that scapy can build."""
    layers = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    if draw(st.booleans()):
        layers = layers / Dot1Q(vlan=draw(st.integers(0, 4095)))
    for _ in range(draw(st.integers(0, 2))):
        layers = layers / draw(ip_headers())
        if draw(st.booleans()):
            layers = layers / GRE(chksum_present=draw(st.integers(0, 1)), key_present=draw(st.integers(0, 1)))
    layers = layers / draw(ip_headers())
    transport = draw(transports(layers.lastlayer()))
    return layers / transport if SCTP in transport else layers / transport / Raw(draw(DATA))


@st.composite
def ip_headers(draw: st.DrawFn) -> Any:
    if draw(st.booleans()):
        return IP(src=draw(ADDRESS4), dst=draw(ADDRESS4), ttl=draw(st.integers(0, 255)), id=draw(st.integers(0, 65535)))
    return IPv6(src=draw(ADDRESS6), dst=draw(ADDRESS6), hlim=draw(st.integers(0, 255)))


@st.composite
def transports(draw: st.DrawFn, ip: Any) -> Any:
    ports = {"sport": draw(PORT), "dport": draw(PORT)}
    kind = draw(st.sampled_from(["tcp", "udp", "sctp", "icmp"]))
    if kind == "tcp":
        options = draw(st.sampled_from([[], [("MSS", 1460)], [("NOP", None), ("NOP", None), ("Timestamp", (1, 2))]]))
        return TCP(**ports, seq=draw(st.integers(0, 2**32 - 1)), flags=draw(st.integers(0, 255)), options=options)
    if kind == "udp":
        return UDP(**ports)
    if kind == "sctp":
        layers = SCTP(**ports, tag=draw(st.integers(0, 2**32 - 1)))
        for chunk in draw(st.lists(st.sampled_from([SCTPChunkInit(), SCTPChunkSACK(), SCTPChunkData(data=b"12345")]))):
            layers = layers / chunk
        return layers
    return ICMP(id=draw(st.integers(0, 65535))) if isinstance(ip, IP) else ICMPv6EchoRequest(id=3)


@given(packets())
def test_agrees_with_scapy(layers: Any) -> None:
    packed = bytes(layers)
    packet, witness = dissect(frame(packed)), Ether(packed)
    headers = [layer for layer in _layers(witness) if isinstance(layer, IP | IPv6)]
    assert len(packet.tunnels) == len(headers) - 1
    for ours, theirs in zip([*(t.ip for t in packet.tunnels), packet.ip], headers, strict=True):
        assert ours is not None
        assert (ours.source, ours.destination) == (theirs.src, theirs.dst)
        assert ours.ttl == (theirs.ttl if isinstance(theirs, IP) else theirs.hlim)
    _same_transport(packet.transport, headers[-1].payload)
    assert packet.bad_checksums == ()


def _layers(packet: Any) -> list[Any]:
    found = []
    while packet:
        found.append(packet)
        packet = packet.payload
    return found


def _same_transport(ours: Tcp | Udp | Sctp | Icmp | None, theirs: Any) -> None:
    if isinstance(ours, Tcp):
        assert (ours.source_port, ours.destination_port) == (theirs.sport, theirs.dport)
        assert (ours.sequence, ours.acknowledgment, ours.window) == (theirs.seq, theirs.ack, theirs.window)
    elif isinstance(ours, Udp):
        assert (ours.source_port, ours.destination_port) == (theirs.sport, theirs.dport)
    elif isinstance(ours, Sctp):
        assert ours[:4] == (theirs.sport, theirs.dport, theirs.tag, int.from_bytes(bytes(theirs)[8:12], "little"))
        assert [chunk.type for chunk in ours.chunks] == [layer.type for layer in _layers(theirs.payload)]
    else:
        assert isinstance(ours, Icmp)
        assert (ours.type, ours.code) == (theirs.type, theirs.code)


SEEDS = [bytes(ETHER / layers) for _, layers in TUNNELS] + [
    bytes(ETHER / V6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrFragment() / DATAGRAM),
    bytes(ETHER / V6 / ICMPv6ND_NS()),
    bytes(ETHER / V4 / SCTP() / SCTPChunkInit() / SCTPChunkData(data=b"12345")),
    bytes(ETHER / ARP()),
]


@given(st.binary(max_size=120), st.booleans())
def test_never_raises_on_any_bytes(data: bytes, ethernet: bool) -> None:
    assert dissect(frame(data) if ethernet else raw(data))


@given(st.sampled_from(SEEDS), st.integers(0, 200), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255))))
def test_never_raises_on_damaged_packets(seed: bytes, length: int, damages: list[tuple[int, int]]) -> None:
    data = bytearray(seed)
    for offset, value in damages:
        data[offset % len(data)] = value
    assert dissect(frame(data[:length]))
    assert dissect(raw(data[14:length]))
