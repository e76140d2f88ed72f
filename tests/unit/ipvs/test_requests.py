"""Requests: byte for byte where computed by hand, and as a round trip over all values of the model."""

from __future__ import annotations

import socket
import struct
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lvslab.ipvs import answers, netlink, requests
from lvslab.ipvs.codes import flag_bits
from lvslab.ipvs.model import (
    AddressKey,
    Destination,
    DestinationEntry,
    Family,
    FwmarkKey,
    Persistence,
    Service,
    ServiceEntry,
    Stats,
    SyncDaemon,
    SyncRole,
    Timeouts,
)
from lvslab.topology.model import Method, Protocol, Tunnel, TunnelChecksum, TunnelKind

FAMILY = 0x1C
REQUEST, ACK, DUMP = 0x1, 0x4, 0x300
NETMASK = 9
WEB = AddressKey(Protocol.TCP, ip_address("192.0.2.100"), 80)
ZEROS = {
    f"IPVS_STATS_ATTR_{name}": 0
    for name in ("CONNS", "INPKTS", "OUTPKTS", "INBYTES", "OUTBYTES", "CPS", "INPPS", "OUTPPS", "INBPS", "OUTBPS")
}


def attribute(kind: int, value: bytes) -> bytes:
    """netlink(7): length without padding, type, value, padding to four bytes."""
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def message(command: int, attributes: bytes, flags: int = REQUEST | ACK) -> bytes:
    body = struct.pack("=BBH", command, 1, 0) + attributes
    return struct.pack("=IHHII", 16 + len(body), FAMILY, flags, 0, 0) + body


def u16(value: int) -> bytes:
    return struct.pack("=H", value)


def u32(value: int) -> bytes:
    return struct.pack("=I", value)


def be16(value: int) -> bytes:
    return struct.pack(">H", value)


WEB_KEY = (
    attribute(1, u16(socket.AF_INET))
    + attribute(2, u16(socket.IPPROTO_TCP))
    + attribute(3, socket.inet_aton("192.0.2.100"))
    + attribute(4, be16(80))
)


def test_add_service_is_the_bytes_of_linux_ip_vs_h() -> None:
    expected = message(
        1,
        attribute(
            1,
            WEB_KEY
            + attribute(6, b"rr\0")
            + attribute(7, u32(0) + u32(0xFFFFFFFF))
            + attribute(8, u32(0))
            + attribute(NETMASK, b"\xff\xff\xff\xff"),
        ),
    )
    assert requests.add_service(FAMILY, Service(WEB, "rr")) == expected


def test_add_destination_is_the_bytes_of_linux_ip_vs_h() -> None:
    destination = Destination(
        ip_address("2001:db8::1"), 80, Method.TUN, 5, 100, 50, Tunnel(TunnelKind.GUE, 5555, TunnelChecksum.REMOTE)
    )
    expected = message(
        5,
        attribute(1, WEB_KEY)
        + attribute(
            2,
            attribute(11, u16(socket.AF_INET6))
            + attribute(1, socket.inet_pton(socket.AF_INET6, "2001:db8::1"))
            + attribute(2, be16(80))
            + attribute(3, u32(2))
            + attribute(4, u32(5))
            + attribute(5, u32(100))
            + attribute(6, u32(50))
            + attribute(13, b"\1")
            + attribute(14, be16(5555))
            + attribute(15, u16(2)),
        ),
    )
    assert requests.add_destination(FAMILY, WEB, destination) == expected


@pytest.mark.parametrize(
    ("request_bytes", "expected"),
    [
        (requests.dump_services(FAMILY), message(4, b"", REQUEST | DUMP)),
        (requests.get_service(FAMILY, WEB), message(4, attribute(1, WEB_KEY))),
        (requests.delete_service(FAMILY, WEB), message(3, attribute(1, WEB_KEY))),
        (requests.dump_destinations(FAMILY, WEB), message(8, attribute(1, WEB_KEY), REQUEST | DUMP)),
        (requests.flush(FAMILY), message(17, b"")),
        (requests.zero(FAMILY), message(16, b"")),
        (requests.zero(FAMILY, WEB), message(16, attribute(1, WEB_KEY))),
        (requests.get_timeouts(FAMILY), message(13, b"")),
        (
            requests.set_timeouts(FAMILY, Timeouts(900, 120, 300)),
            message(12, attribute(4, u32(900)) + attribute(5, u32(120)) + attribute(6, u32(300))),
        ),
        (requests.get_info(FAMILY), message(15, b"")),
        (requests.dump_daemons(FAMILY), message(11, b"", REQUEST | DUMP)),
        (
            requests.stop_daemon(FAMILY, SyncDaemon(SyncRole.BACKUP, "eth0", 7)),
            message(10, attribute(3, attribute(1, u32(2)) + attribute(2, b"eth0\0") + attribute(3, u32(7)))),
        ),
        (
            requests.get_service(FAMILY, FwmarkKey(7, Family.IPV6)),
            message(4, attribute(1, attribute(1, u16(socket.AF_INET6)) + attribute(5, u32(7)))),
        ),
    ],
)
def test_each_request_is_the_bytes_of_linux_ip_vs_h(request_bytes: bytes, expected: bytes) -> None:
    assert request_bytes == expected


def test_family_lookup_is_the_bytes_of_linux_genetlink_h() -> None:
    body = struct.pack("=BBH", 3, 1, 0) + attribute(2, b"IPVS\0")
    assert netlink.encode_get_family() == struct.pack("=IHHII", 16 + len(body), 16, REQUEST | ACK, 0, 0) + body


@pytest.mark.parametrize(
    ("address", "prefix", "mask"),
    [
        ("192.0.2.1", None, b"\xff\xff\xff\xff"),
        ("192.0.2.1", 20, b"\xff\xff\xf0\x00"),
        ("2001:db8::1", None, u32(128)),
        ("2001:db8::1", 64, u32(64)),
    ],
)
def test_netmask_is_a_mask_for_ipv4_and_a_prefix_length_for_ipv6(address: str, prefix: int | None, mask: bytes) -> None:
    service = Service(AddressKey(Protocol.TCP, ip_address(address), 80), "rr", Persistence(60, prefix))
    assert attribute(NETMASK, mask) in requests.add_service(FAMILY, service)


ports = st.integers(0, 65535)
u32s = st.integers(0, 2**32 - 1)
addresses = st.builds(IPv4Address, u32s) | st.builds(IPv6Address, st.integers(0, 2**128 - 1))
keys = st.builds(AddressKey, st.sampled_from(Protocol), addresses, ports) | st.builds(
    FwmarkKey, st.integers(1, 2**32 - 1), st.sampled_from(Family)
)
tunnels = st.builds(Tunnel, st.sampled_from(TunnelKind), ports, st.sampled_from(TunnelChecksum))
destinations = st.builds(Destination, addresses, ports, st.sampled_from(Method), u32s, u32s, u32s, tunnels)


@st.composite
def services(draw: st.DrawFn) -> Service:
    key = draw(keys)
    scheduler = draw(st.sampled_from(["rr", "wlc", "sh", "mh"]))
    prefixes = st.none() | st.integers(1, key.family.address_bits - 1)
    persistences = st.builds(Persistence, u32s, prefixes, st.sampled_from([None, "sip"]))
    flags = st.frozensets(st.sampled_from(list(flag_bits(scheduler))))
    return Service(key, scheduler, draw(st.none() | persistences), draw(flags))


def as_answer(request: bytes, object_name: str, **facts: object) -> bytes:
    """Return the request's attributes as the kernel would send them back, completed by what only the kernel knows."""
    attributes = dict(netlink.decode(request))
    completed = {**attributes[object_name], **facts}
    return netlink.encode(FAMILY, netlink.Command.NEW_SERVICE, {object_name: completed})


@given(services())
def test_a_service_survives_the_round_trip(service: Service) -> None:
    stats = {"attrs": list(ZEROS.items())}
    answer = as_answer(requests.add_service(FAMILY, service), "IPVS_CMD_ATTR_SERVICE", IPVS_SVC_ATTR_STATS64=stats)
    assert answers.service(answer) == ServiceEntry(service, Stats())


def test_every_counter_lands_in_its_own_field() -> None:
    counters = {"attrs": [(name, number) for number, name in enumerate(ZEROS, start=1)]}
    answer = as_answer(
        requests.add_service(FAMILY, Service(WEB, "rr")), "IPVS_CMD_ATTR_SERVICE", IPVS_SVC_ATTR_STATS64=counters
    )
    assert answers.service(answer).stats == Stats(
        connections=1,
        packets_in=2,
        packets_out=3,
        bytes_in=4,
        bytes_out=5,
        connections_per_s=6,
        packets_in_per_s=7,
        packets_out_per_s=8,
        bytes_in_per_s=9,
        bytes_out_per_s=10,
    )


@given(keys, destinations)
def test_a_destination_survives_the_round_trip(key: AddressKey | FwmarkKey, destination: Destination) -> None:
    counts = {f"IPVS_DEST_ATTR_{name}_CONNS": number for number, name in enumerate(("ACTIVE", "INACT", "PERSIST"))}
    answer = as_answer(
        requests.set_destination(FAMILY, key, destination),
        "IPVS_CMD_ATTR_DEST",
        IPVS_DEST_ATTR_STATS64={"attrs": list(ZEROS.items())},
        **counts,
    )
    assert answers.destination(answer) == DestinationEntry(destination, 0, 1, 2, Stats())


groups = st.sampled_from([None, ip_address("224.0.0.81"), ip_address("ff02::51")])


@given(
    st.builds(
        SyncDaemon,
        st.sampled_from(SyncRole),
        st.sampled_from(["eth0", "a-name-of-15-by"]),
        st.integers(0, 255),
        st.none() | st.integers(1, 65535),
        groups,
        st.none() | st.integers(1, 65535),
        st.none() | st.integers(1, 255),
    )
)
def test_a_sync_daemon_survives_the_round_trip(daemon: SyncDaemon) -> None:
    assert answers.daemon(requests.start_daemon(FAMILY, daemon)) == daemon


@given(st.builds(Timeouts, u32s, u32s, u32s))
def test_timeouts_survive_the_round_trip(timeouts: Timeouts) -> None:
    assert answers.timeouts(requests.set_timeouts(FAMILY, timeouts)) == timeouts
