"""Typed values of the kernel's IPVS table: what is asked for, and what is read back.

Names follow linux/ip_vs.h and ipvsadm(8). Nothing here touches the system.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from ipaddress import IPv4Address

from lvslab.topology.model import IPIP, Address, Method, Protocol, Tunnel


class Family(IntEnum):
    """Address families by their Linux numbers (AF_INET, AF_INET6)."""

    IPV4 = 2
    IPV6 = 10

    @classmethod
    def of(cls, address: Address) -> Family:
        return cls.IPV4 if isinstance(address, IPv4Address) else cls.IPV6

    @property
    def address_bits(self) -> int:
        return 32 if self is Family.IPV4 else 128

    def __str__(self) -> str:
        return "IPv4" if self is Family.IPV4 else "IPv6"


def endpoint(address: Address, port: int) -> str:
    """Return `192.0.2.1:80` or `[2001:db8::1]:80`."""
    return f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}"


@dataclass(frozen=True, slots=True)
class AddressKey:
    """A service found by protocol, virtual address and port; port 0 means every port (persistent services only)."""

    protocol: Protocol
    address: Address
    port: int

    @property
    def family(self) -> Family:
        return Family.of(self.address)

    def __str__(self) -> str:
        return f"{self.protocol.value.upper()} {endpoint(self.address, self.port)}"


@dataclass(frozen=True, slots=True)
class FwmarkKey:
    """A service found by the firewall mark of the packet, whatever its protocol, address and port."""

    mark: int
    family: Family = Family.IPV4

    def __str__(self) -> str:
        return f"FWM {self.mark} {self.family}"


ServiceKey = AddressKey | FwmarkKey


class Flag(StrEnum):
    """Service flags as `ipvsadm -b` spells them; the numbered ones are bits the service's scheduler gives no name."""

    ONE_PACKET = "ops"
    SH_FALLBACK = "sh-fallback"
    SH_PORT = "sh-port"
    MH_FALLBACK = "mh-fallback"
    MH_PORT = "mh-port"
    SCHEDULER_1 = "flag-1"
    SCHEDULER_2 = "flag-2"
    SCHEDULER_3 = "flag-3"


@dataclass(frozen=True, slots=True)
class Persistence:
    """Clients stay with one server until `timeout_s` seconds after their last connection.

    `prefix` makes clients of one subnet count as one client; None compares the whole address. `engine` names a
    persistence engine (`sip`), which looks at the payload instead of the client's address.
    """

    timeout_s: int = 300
    prefix: int | None = None
    engine: str | None = None


@dataclass(frozen=True, slots=True)
class Service:
    key: ServiceKey
    scheduler: str
    persistence: Persistence | None = None
    flags: frozenset[Flag] = frozenset()


@dataclass(frozen=True, slots=True)
class Destination:
    """A real server. Thresholds count connections, active and inactive together; 0 means no limit."""

    address: Address
    port: int
    method: Method
    weight: int = 1
    upper_threshold: int = 0
    lower_threshold: int = 0
    tunnel: Tunnel = IPIP

    def __str__(self) -> str:
        return endpoint(self.address, self.port)


@dataclass(frozen=True, slots=True)
class IntendedService:
    """What to install: a service and its real servers, in the order of adding."""

    service: Service
    destinations: tuple[Destination, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counters since the last zeroing, and estimated rates per second; sizes in bytes of IP packets.

    Per-service and per-destination counters are copied from the estimator, which runs every 2 seconds
    (net/netfilter/ipvs/ip_vs_est.c), so they lag behind the traffic.
    """

    connections: int = 0
    packets_in: int = 0
    packets_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    connections_per_s: int = 0
    packets_in_per_s: int = 0
    packets_out_per_s: int = 0
    bytes_in_per_s: int = 0
    bytes_out_per_s: int = 0


@dataclass(frozen=True, slots=True)
class DestinationEntry:
    """A destination as read back. Connection counts are immediate, `stats` lag by up to 2 seconds."""

    destination: Destination
    active: int
    inactive: int
    persistent: int
    stats: Stats


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """A service as read back; `destinations` in the kernel's order, which the schedulers follow (newest first)."""

    service: Service
    stats: Stats
    destinations: tuple[DestinationEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Connection:
    """One entry of the connection table. A client port of 0 marks a persistence template."""

    protocol: str
    """As the kernel names it: TCP, UDP, …, or IP for templates that span ports."""
    client: Address
    client_port: int
    virtual: Address
    virtual_port: int
    destination: Address
    destination_port: int
    state: str
    expires_s: int
    engine: str | None = None
    """Persistence engine, if one keyed this entry."""
    engine_data: str | None = None
    """What the engine keyed it by; for SIP, the Call-ID."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds until an idle entry expires; when setting, 0 keeps the present value (ipvsadm --set)."""

    tcp_s: int
    tcp_fin_s: int
    udp_s: int


@dataclass(frozen=True, slots=True)
class Info:
    """IPVS version, and the number of buckets of the connection table."""

    version: tuple[int, int, int]
    connection_table_size: int


class SyncRole(StrEnum):
    """Which end of the connection synchronisation a director runs; both may run at once."""

    MASTER = "master"
    BACKUP = "backup"


@dataclass(frozen=True, slots=True)
class SyncDaemon:
    """A sync daemon. None leaves the kernel's default: group 224.0.0.81, UDP port 8848, TTL 1, size from the MTU."""

    role: SyncRole
    interface: str
    sync_id: int = 0
    max_bytes: int | None = None
    """Largest UDP payload of a sync message."""
    group: Address | None = None
    port: int | None = None
    ttl: int | None = None
