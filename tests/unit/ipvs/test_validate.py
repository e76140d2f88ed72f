"""What is refused before the kernel sees it, and the reason given."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import pytest

from lvslab.errors import BadInput
from lvslab.ipvs import validate
from lvslab.ipvs.model import (
    AddressKey,
    Destination,
    Family,
    Flag,
    FwmarkKey,
    IntendedService,
    Persistence,
    Service,
    SyncDaemon,
    SyncRole,
    Timeouts,
)
from lvslab.topology.model import Method, Protocol, Tunnel, TunnelChecksum, TunnelKind
from tests.unit.ipvs.support import TABLE

TCP = Service(AddressKey(Protocol.TCP, ip_address("192.0.2.100"), 80), "rr")
UDP = Service(AddressKey(Protocol.UDP, ip_address("192.0.2.100"), 53), "rr")
TCP6 = Service(AddressKey(Protocol.TCP, ip_address("2001:db8::100"), 80), "rr")
MARK = Service(FwmarkKey(1), "rr")
DR = Destination(ip_address("192.0.2.10"), 80, Method.DR)
NAT = replace(DR, method=Method.NAT)
TUN = replace(DR, method=Method.TUN)
EVERY_PORT = replace(TCP, key=AddressKey(Protocol.TCP, ip_address("192.0.2.100"), 0), persistence=Persistence())


@pytest.mark.parametrize("intended", TABLE, ids=lambda item: str(item.service.key))
def test_what_a_real_kernel_installed_is_accepted(intended: IntendedService) -> None:
    validate.check_intended(intended)


@pytest.mark.parametrize(
    ("service", "reason"),
    [
        (replace(TCP, scheduler="fastest"), "unknown scheduler: expected one of rr, wrr"),
        (replace(TCP, key=AddressKey(Protocol.TCP, ip_address("192.0.2.100"), 65536)), "port out of range"),
        (replace(EVERY_PORT, persistence=None), "port 0 without persistence never schedules"),
        (replace(MARK, key=FwmarkKey(0)), "firewall mark out of range: expected 1 to 4294967295, found 0"),
        (replace(MARK, key=FwmarkKey(2**32)), "firewall mark out of range"),
        (replace(TCP, flags=frozenset({Flag.SH_PORT})), "flag sh-port belongs to scheduler sh"),
        (replace(TCP, scheduler="sh", flags=frozenset({Flag.MH_FALLBACK})), "flag mh-fallback belongs to scheduler mh"),
        (replace(TCP, flags=frozenset({Flag.SCHEDULER_1})), "no scheduler of the kernel reads flag-1"),
        (replace(TCP, flags=frozenset({Flag.ONE_PACKET})), "one-packet scheduling is for UDP"),
        (replace(TCP, persistence=Persistence(0)), "timeout in seconds out of range: expected 1 to 2678400, found 0"),
        (replace(TCP, persistence=Persistence(2678401)), "timeout in seconds out of range"),
        (replace(TCP, persistence=Persistence(60, 0)), "prefix length out of range: expected 1 to 32, found 0"),
        (replace(TCP, persistence=Persistence(60, 33)), "prefix length out of range"),
        (replace(TCP6, persistence=Persistence(60, 0)), "prefix length out of range: expected 1 to 128, found 0"),
        (replace(TCP6, persistence=Persistence(60, 129)), "prefix length out of range"),
        (replace(UDP, persistence=Persistence(60, engine="h323")), "unknown persistence engine: expected sip"),
        (replace(TCP, persistence=Persistence(60, engine="sip")), "reads UDP only"),
    ],
)
def test_a_service_is_refused_with_the_reason(service: Service, reason: str) -> None:
    with pytest.raises(BadInput, match=r"^service ") as caught:
        validate.check_service(service)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "service",
    [
        *(replace(TCP, scheduler=name) for name in validate.SCHEDULERS),
        EVERY_PORT,
        replace(UDP, flags=frozenset({Flag.ONE_PACKET})),
        replace(MARK, flags=frozenset({Flag.ONE_PACKET})),
        replace(TCP, scheduler="sh", flags=frozenset({Flag.SH_PORT, Flag.SH_FALLBACK})),
        replace(MARK, key=FwmarkKey(2**32 - 1, Family.IPV6)),
        replace(TCP, persistence=Persistence(1, 32)),
        replace(TCP6, persistence=Persistence(2678400, 128)),
    ],
)
def test_a_service_at_the_limits_is_accepted(service: Service) -> None:
    validate.check_service(service)


@pytest.mark.parametrize(
    ("service", "destination", "reason"),
    [
        (TCP, replace(DR, port=8080), "method dr cannot map ports: expected port 80, found port 8080"),
        (TCP, replace(TUN, port=8080), "method tun cannot map ports"),
        (TCP, replace(DR, port=65536), "port out of range"),
        (EVERY_PORT, replace(NAT, port=99), "keeps the port the client asked for: expected port 0, found port 99"),
        (replace(MARK, persistence=Persistence()), replace(NAT, port=99), "keeps the port the client asked for"),
        (TCP, replace(DR, method=Method.LOCAL), "local delivery is not asked for"),
        (TCP, replace(DR, weight=-1), "weight out of range: expected 0 to 65535, found -1"),
        (TCP, replace(DR, weight=65536), "weight out of range"),
        (TCP, replace(DR, upper_threshold=1, lower_threshold=2), "above the upper one: expected at most 1, found 2"),
        (TCP, replace(DR, lower_threshold=1), "lower threshold above the upper one"),
        (TCP, replace(DR, upper_threshold=65536), "upper threshold out of range"),
        (TCP, replace(DR, lower_threshold=-1), "lower threshold out of range"),
        (TCP, replace(DR, address=ip_address("2001:db8::1")), "an IPv6 server of an IPv4 service needs method tun"),
        (TCP6, NAT, "an IPv4 server of an IPv6 service needs method tun"),
        (TCP, replace(DR, address=ip_address("224.0.0.1")), "routable unicast address: found 224.0.0.1"),
        (TCP, replace(DR, address=ip_address("0.0.0.0")), "routable unicast address"),
        (TCP, replace(DR, address=ip_address("255.255.255.255")), "routable unicast address"),
        (TCP6, replace(DR, address=ip_address("fe80::1")), "routable unicast address"),
        (TCP6, replace(DR, address=ip_address("ff02::1")), "routable unicast address"),
        (TCP, replace(DR, tunnel=Tunnel(TunnelKind.GRE)), "tunnel gre without method tun: found method dr"),
        (TCP, replace(TUN, tunnel=Tunnel(TunnelKind.GUE)), "GUE port out of range: expected 1 to 65535, found 0"),
        (TCP, replace(TUN, tunnel=Tunnel(TunnelKind.GRE, 7)), "gre has no port"),
        (TCP, replace(TUN, tunnel=Tunnel(checksum=TunnelChecksum.PRESENT)), "ipip ignores csum"),
        (TCP, replace(TUN, tunnel=Tunnel(TunnelKind.GRE, 0, TunnelChecksum.REMOTE)), "gre ignores remcsum"),
    ],
)
def test_a_destination_is_refused_with_the_reason(service: Service, destination: Destination, reason: str) -> None:
    with pytest.raises(BadInput, match=r"^service .*, destination ") as caught:
        validate.check_destination(service, destination)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("service", "destination"),
    [
        (TCP, replace(NAT, port=8080)),
        (TCP, replace(DR, address=ip_address("127.0.0.1"))),
        (TCP, replace(TUN, address=ip_address("2001:db8::1"))),
        (TCP, replace(TUN, tunnel=Tunnel(TunnelKind.GRE, 0, TunnelChecksum.PRESENT))),
        (TCP, replace(TUN, tunnel=Tunnel(TunnelKind.GUE, 65535, TunnelChecksum.REMOTE))),
        (TCP, replace(DR, weight=65535, upper_threshold=65535, lower_threshold=65535)),
        (EVERY_PORT, replace(NAT, port=0)),
        (MARK, replace(NAT, port=8080)),
        (MARK, replace(DR, port=80)),
    ],
)
def test_a_destination_at_the_limits_is_accepted(service: Service, destination: Destination) -> None:
    validate.check_destination(service, destination)


def test_a_destination_listed_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="the same destination twice"):
        validate.check_intended(IntendedService(TCP, (DR, replace(DR, weight=9))))


@pytest.mark.parametrize(("name", "timeouts"), [("tcp", (-1, 0, 0)), ("tcpfin", (0, -1, 0)), ("udp", (0, 0, 2147484))])
def test_timeouts_out_of_range_are_refused(name: str, timeouts: tuple[int, int, int]) -> None:
    with pytest.raises(BadInput, match=f"{name} timeout in seconds out of range"):
        validate.check_timeouts(Timeouts(*timeouts))
    validate.check_timeouts(Timeouts(0, 1, 2147483))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sync_id": 256}, "sync id out of range: expected 0 to 255"),
        ({"interface": ""}, "length of the interface's name"),
        ({"interface": "sixteen-letters-"}, "length of the interface's name"),
        ({"max_bytes": 0}, "size of a sync message"),
        ({"port": 0}, "port out of range"),
        ({"ttl": 256}, "TTL out of range"),
        ({"group": ip_address("192.0.2.1")}, "not a multicast group"),
    ],
)
def test_a_sync_daemon_is_refused_with_the_reason(change: dict[str, Any], reason: str) -> None:
    daemon = SyncDaemon(SyncRole.MASTER, "eth0", 255, 1400, ip_address("224.0.0.81"), 8848, 1)
    validate.check_daemon(daemon)
    with pytest.raises(BadInput, match=reason):
        validate.check_daemon(replace(daemon, **change))
