"""The table the fixtures were recorded from, and an exchange that answers from them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

from lvslab.ipvs.exchange import Reply
from lvslab.ipvs.model import AddressKey, Destination, Family, Flag, FwmarkKey, IntendedService, Persistence, Service
from lvslab.topology.model import Method, Protocol, Tunnel, TunnelChecksum, TunnelKind

FIXTURES = Path(__file__).parent / "fixtures"
GET_SERVICE, GET_DEST, GET_DAEMON, GET_CONFIG, GET_INFO = 4, 8, 11, 13, 15
CONTROLLER = 16
NLM_F_DUMP = 0x300

WEB = Service(AddressKey(Protocol.TCP, ip_address("192.0.2.100"), 80), "wrr")
WEB_SERVERS = (
    Destination(ip_address("198.51.100.11"), 8080, Method.NAT, 3),
    Destination(ip_address("198.51.100.12"), 80, Method.DR, 2, upper_threshold=200, lower_threshold=100),
    Destination(ip_address("198.51.100.13"), 80, Method.TUN),
    Destination(
        ip_address("198.51.100.14"), 80, Method.TUN, tunnel=Tunnel(TunnelKind.GUE, 5555, TunnelChecksum.REMOTE)
    ),
    Destination(
        ip_address("198.51.100.15"), 80, Method.TUN, 0, tunnel=Tunnel(TunnelKind.GRE, 0, TunnelChecksum.PRESENT)
    ),
    Destination(ip_address("2001:db8:1::16"), 80, Method.TUN),
)
SIP = Service(AddressKey(Protocol.UDP, ip_address("192.0.2.100"), 5060), "rr", Persistence(60, engine="sip"))
DNS = Service(
    AddressKey(Protocol.UDP, ip_address("2001:db8::100"), 53),
    "sh",
    Persistence(360, prefix=64),
    frozenset({Flag.SH_PORT, Flag.ONE_PACKET}),
)
MARKED = Service(FwmarkKey(7), "mh", Persistence(60, prefix=24), frozenset({Flag.MH_FALLBACK}))
MARKED_6 = Service(FwmarkKey(0xFFFFFFFF, Family.IPV6), "wlc")

TABLE = (
    IntendedService(WEB, WEB_SERVERS),
    IntendedService(SIP, (Destination(ip_address("198.51.100.11"), 5060, Method.NAT),)),
    IntendedService(DNS, (Destination(ip_address("2001:db8:1::11"), 53, Method.DR),)),
    IntendedService(MARKED, (Destination(ip_address("198.51.100.11"), 0, Method.DR),)),
    IntendedService(MARKED_6, ()),
)
"""In the order in which the kernel listed the services."""


def recorded(name: str) -> tuple[bytes, ...]:
    """Return the messages of a fixture; a service without destinations has no file."""
    path = FIXTURES / f"{name}.hex"
    return tuple(map(bytes.fromhex, path.read_text().split())) if path.exists() else ()


class RecordedKernel:
    """An exchange that answers from the fixtures, and refuses what it is told to refuse."""

    def __init__(self, refuse: dict[int, int] | None = None) -> None:
        self.sent: list[tuple[str, bytes]] = []
        self._refuse = refuse or {}
        self._dumped = 0

    def __call__(self, namespace: str, messages: Sequence[bytes]) -> list[Reply]:
        self.sent += [(namespace, message) for message in messages]
        return [self._answer(message) for message in messages]

    @property
    def commands(self) -> list[int]:
        return [message[16] for _, message in self.sent if _message_type(message) != CONTROLLER]

    def _answer(self, message: bytes) -> Reply:
        command = message[16]
        if _message_type(message) == CONTROLLER:
            return Reply(self._refuse.get(CONTROLLER, 0), recorded("family"))
        if command in self._refuse:
            return Reply(self._refuse[command])
        if command == GET_DEST:
            self._dumped += 1
            return Reply(0, recorded(f"destinations-{self._dumped - 1}"))
        single = not struct.unpack_from("=H", message, 6)[0] & NLM_F_DUMP
        if command == GET_SERVICE and single:
            return Reply(0, recorded("services")[:1])
        names = {GET_SERVICE: "services", GET_DAEMON: "daemons", GET_CONFIG: "timeouts", GET_INFO: "info"}
        return Reply(0, recorded(names[command]) if command in names else ())


def _message_type(message: bytes) -> int:
    return int(struct.unpack_from("=H", message, 4)[0])
