"""Captures of any length, made of bytes that a VS/DR cluster would show. Pure.

Each connection fetches one page: nine packets, 46 frames at the interfaces of client, router, director and server.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from lvslab.capture.checksum import word_sum
from lvslab.capture.frame import Capture, Direction, Frame, LinkType

SERVERS = 8
FIRST_PORT = 1024
PORTS = 64000
HOP_NS, PACKET_NS = 5_000, 100_000
BEGIN_NS = 1_700_000_000_000_000_000
TCP = 6
CLIENT, VIP = IPv4Address("203.0.113.10"), IPv4Address("198.18.0.10")
_IP = struct.Struct(">BBHHHBBH4s4s")
_TCP = struct.Struct(">HHIIBBHHH")
_PSEUDO_HEADER = struct.Struct(">4s4sBBH")
_STAMPS = struct.Struct(">BBBBII")
SYN, ACK, PUSH, FIN = 0x02, 0x10, 0x08, 0x01
QUESTION, ANSWER = b"GET / HTTP/1.0\r\n\r\n", b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nrs1\n"


@dataclass(frozen=True, slots=True)
class _Sent:
    """One packet of a connection: by the client or the server, its flags and payload."""

    by_client: bool
    flags: int
    payload: bytes = b""


PACKETS = (
    _Sent(by_client=True, flags=SYN),
    _Sent(by_client=False, flags=SYN | ACK),
    _Sent(by_client=True, flags=ACK),
    _Sent(by_client=True, flags=PUSH | ACK, payload=QUESTION),
    _Sent(by_client=False, flags=PUSH | ACK, payload=ANSWER),
    _Sent(by_client=False, flags=FIN | ACK),
    _Sent(by_client=True, flags=ACK),
    _Sent(by_client=True, flags=FIN | ACK),
    _Sent(by_client=False, flags=ACK),
)


def mac(number: int) -> bytes:
    return bytes((2, 0, 0, 0, number >> 8, number & 0xFF))


CLIENT_MAC, ROUTER_OUTSIDE, ROUTER_INSIDE, DIRECTOR_MAC = map(mac, range(1, 5))
FRAMES_PER_CONNECTION = 5 * 6 + 4 * 4


def capture_of(frames: int) -> Capture:
    """Return a capture of so many frames or a few more, of whole connections, one after the other."""
    connections = -(-frames // FRAMES_PER_CONNECTION)
    made = (frame for number in range(connections) for frame in _connection(number))
    return Capture(tuple(Frame(number, *fields) for number, fields in enumerate(made, 1)))


_Fields = tuple[int, str, str, Direction, LinkType, bytes, int]


def _connection(number: int) -> Iterator[_Fields]:
    port = FIRST_PORT + number % PORTS
    server = number % SERVERS
    positions = {True: number * 7919 & 0xFFFFFFFF, False: number * 104729 & 0xFFFFFFFF}
    for place, packet in enumerate(PACKETS):
        time_ns = BEGIN_NS + (number * len(PACKETS) + place) * PACKET_NS
        segment = _segment(packet, port, positions, time_ns // 1_000_000 & 0xFFFFFFFF)
        positions[packet.by_client] += len(packet.payload) + bool(packet.flags & (SYN | FIN))
        identification = number * len(PACKETS) + place & 0xFFFF
        for hop, (node, interface, direction, ttl, link) in enumerate(_way(packet.by_client, server)):
            data = link + b"\x08\x00" + _ip_header(packet.by_client, len(segment), identification, ttl) + segment
            yield time_ns + hop * HOP_NS, node, interface, direction, LinkType.ETHERNET, data, len(data)


_Hop = tuple[str, str, Direction, int, bytes]
"""Node, interface, direction, TTL, and the MAC addresses."""


def _way(by_client: bool, server: int) -> tuple[_Hop, ...]:
    name, server_mac = f"rs{server + 1}", mac(5 + server)
    if by_client:
        first, second = ROUTER_OUTSIDE + CLIENT_MAC, DIRECTOR_MAC + ROUTER_INSIDE
        third = server_mac + DIRECTOR_MAC
        return (
            ("client", "eth0", Direction.OUT, 64, first),
            ("router", "eth0", Direction.IN, 64, first),
            ("router", "eth1", Direction.OUT, 63, second),
            ("director", "eth0", Direction.IN, 63, second),
            ("director", "eth0", Direction.OUT, 62, third),
            (name, "eth0", Direction.IN, 62, third),
        )
    first, second = ROUTER_INSIDE + server_mac, CLIENT_MAC + ROUTER_OUTSIDE
    return (
        (name, "eth0", Direction.OUT, 64, first),
        ("router", "eth1", Direction.IN, 64, first),
        ("router", "eth0", Direction.OUT, 63, second),
        ("client", "eth0", Direction.IN, 63, second),
    )


def _ends(by_client: bool) -> tuple[bytes, bytes]:
    return (CLIENT.packed, VIP.packed) if by_client else (VIP.packed, CLIENT.packed)


def _segment(packet: _Sent, port: int, positions: dict[bool, int], stamp: int) -> bytes:
    ports = (port, 80) if packet.by_client else (80, port)
    numbers = positions[packet.by_client], positions[not packet.by_client] if packet.flags & ACK else 0
    options = _STAMPS.pack(1, 1, 8, 10, stamp, stamp)
    size = _TCP.size + len(options)
    rest = options + packet.payload
    pseudo_header = _PSEUDO_HEADER.pack(*_ends(packet.by_client), 0, TCP, size + len(packet.payload))
    head = (*ports, *numbers, size // 4 << 4, packet.flags, 65535)
    checksum = _checksum(pseudo_header + _TCP.pack(*head, 0, 0) + rest)
    return _TCP.pack(*head, checksum, 0) + rest


def _ip_header(by_client: bool, size: int, identification: int, ttl: int) -> bytes:
    head = (0x45, 0, _IP.size + size, identification, 0x4000, ttl, TCP)
    ends = _ends(by_client)
    return _IP.pack(*head, _checksum(_IP.pack(*head, 0, *ends)), *ends)


def _checksum(data: bytes) -> int:
    return 0xFFFF - word_sum(data)
