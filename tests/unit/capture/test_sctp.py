"""SCTP packets, with scapy as the one who builds them, and the checksum by published values."""

from __future__ import annotations

from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from scapy.layers.sctp import (
    SCTP,
    SCTPChunkAbort,
    SCTPChunkCookieAck,
    SCTPChunkCookieEcho,
    SCTPChunkData,
    SCTPChunkHeartbeatReq,
    SCTPChunkInit,
    SCTPChunkInitAck,
    SCTPChunkParamIPv4Addr,
    SCTPChunkParamIPv6Addr,
    SCTPChunkParamStateCookie,
    SCTPChunkSACK,
    SCTPChunkShutdown,
    SCTPChunkShutdownAck,
    SCTPChunkShutdownComplete,
)

from lvslab.capture.crc32c import crc32c
from lvslab.capture.dissect import dissect
from lvslab.capture.packet import Packet, Sctp
from lvslab.capture.quoted import quoted
from lvslab.capture.sctp import (
    ABORT,
    CHUNK_NAMES,
    COOKIE_ACK,
    COOKIE_ECHO,
    DATA,
    HEARTBEAT,
    INIT,
    INIT_ACK,
    SACK,
    SHUTDOWN,
    SHUTDOWN_ACK,
    SHUTDOWN_COMPLETE,
    has_chunk,
    initiate_tag,
    offered_addresses,
)
from tests.unit.capture.frames import frame

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
V4 = IP(src="198.51.100.10", dst="192.0.2.100", id=7, flags="DF", ttl=63)
HEADER = SCTP(sport=40000, dport=3868, tag=0x01020304)


def sctp_of(packet: Packet) -> Sctp:
    assert isinstance(packet.transport, Sctp)
    return packet.transport


@pytest.mark.parametrize(
    ("data", "checksum"),
    [
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"123456789", 0xE3069283),
        (b"", 0),
    ],
)
def test_crc32c_is_that_of_rfc_3720(data: bytes, checksum: int) -> None:
    """Appendix B.4 of it, and the check value of catalogues of CRCs."""
    assert crc32c(data) == checksum


@pytest.mark.parametrize(
    ("chunk", "kind", "name"),
    [
        (SCTPChunkData(data=b"x"), DATA, "DATA"),
        (SCTPChunkInit(), INIT, "INIT"),
        (SCTPChunkInitAck(), INIT_ACK, "INIT ACK"),
        (SCTPChunkSACK(), SACK, "SACK"),
        (SCTPChunkHeartbeatReq(), HEARTBEAT, "HEARTBEAT"),
        (SCTPChunkAbort(), ABORT, "ABORT"),
        (SCTPChunkShutdown(), SHUTDOWN, "SHUTDOWN"),
        (SCTPChunkShutdownAck(), SHUTDOWN_ACK, "SHUTDOWN ACK"),
        (SCTPChunkCookieEcho(cookie=b"biscuit!"), COOKIE_ECHO, "COOKIE ECHO"),
        (SCTPChunkCookieAck(), COOKIE_ACK, "COOKIE ACK"),
        (SCTPChunkShutdownComplete(), SHUTDOWN_COMPLETE, "SHUTDOWN COMPLETE"),
    ],
)
def test_each_kind_of_chunk_is_known(chunk: Any, kind: int, name: str) -> None:
    sctp = sctp_of(dissect(frame(ETHER / V4 / HEADER / chunk)))
    assert [item.type for item in sctp.chunks] == [kind] == [chunk.type]
    assert has_chunk(sctp, kind)
    assert CHUNK_NAMES[kind] == name


def test_header_chunks_and_user_data() -> None:
    packet = dissect(frame(ETHER / V4 / HEADER / SCTPChunkCookieEcho(cookie=b"abc") / SCTPChunkData(data=b"hello")))
    sctp = sctp_of(packet)
    assert (packet.ports, sctp.verification_tag) == ((40000, 3868), 0x01020304)
    assert [chunk.type for chunk in sctp.chunks] == [COOKIE_ECHO, DATA]
    assert sctp.chunks[0].value == b"abc"
    assert packet.payload == b"hello"
    assert packet.bad_checksums == ()
    assert str(packet.destination) == "192.0.2.100:3868"


def test_an_init_tells_its_tag_and_nothing_else_does() -> None:
    assert initiate_tag(sctp_of(dissect(frame(ETHER / V4 / HEADER / SCTPChunkInit(init_tag=77))))) == 77
    assert initiate_tag(sctp_of(dissect(frame(ETHER / V4 / HEADER / SCTPChunkInitAck(init_tag=77))))) is None


def test_addresses_that_are_offered() -> None:
    parameters = [
        SCTPChunkParamIPv4Addr(addr="198.18.0.11"),
        SCTPChunkParamStateCookie(cookie=b"12345"),
        SCTPChunkParamIPv6Addr(addr="2001:db8::11"),
    ]
    sctp = sctp_of(dissect(frame(ETHER / V4 / HEADER / SCTPChunkInitAck(params=parameters))))
    assert offered_addresses(sctp) == ("198.18.0.11", "2001:db8::11")
    assert offered_addresses(sctp_of(dissect(frame(ETHER / V4 / HEADER / SCTPChunkInitAck())))) == ()


def test_the_checksum_is_over_the_packet_and_no_address() -> None:
    layers = HEADER / SCTPChunkData(data=b"hello")
    here = dissect(frame(ETHER / V4 / layers))
    elsewhere = dissect(frame(ETHER / IP(src="192.0.2.1", dst="192.0.2.2") / layers))
    assert sctp_of(here).checksum == sctp_of(elsewhere).checksum is not None
    damaged = bytearray(bytes(ETHER / V4 / layers))
    damaged[-8] ^= 1
    assert dissect(frame(damaged)).bad_checksums == ("sctp",)


def test_a_checksum_left_to_hardware_is_neither_judged_nor_told() -> None:
    damaged = bytearray(bytes(ETHER / V4 / HEADER / SCTPChunkData(data=b"hello")))
    damaged[-8] ^= 1
    packet = dissect(frame(damaged, checksum_ready=False))
    assert packet.bad_checksums == ()
    assert sctp_of(packet).checksum is None


def test_an_icmp_error_quotes_ports_and_tag() -> None:
    error = IP(src="192.0.2.100", dst="198.51.100.10") / ICMP(type=3, code=2) / V4 / HEADER / SCTPChunkInit()
    about = quoted(dissect(frame(ETHER / error)))
    assert about is not None
    assert (about.ports, about.invariant) == ((40000, 3868), bytes([1, 2, 3, 4]))


@pytest.mark.parametrize("length", range(12 + 16 + 5))
def test_what_is_cut_short_is_read_as_far_as_it_goes(length: int) -> None:
    whole = bytes(HEADER / SCTPChunkData(data=b"hello"))
    packet = dissect(frame(ETHER / IP(src="198.51.100.10", dst="192.0.2.100", proto=132) / whole[:length]))
    if length < 12:
        assert packet.transport is None
    else:
        assert sctp_of(packet).chunks == ()
