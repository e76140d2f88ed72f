"""The frozen model of a topology: what a file (or code) describes, after parsing and checking.

Addresses are :mod:`ipaddress` objects; names are unique; every reference has been resolved.
Nothing here touches the system, and nothing here knows the file format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network

Address = IPv4Address | IPv6Address
InterfaceAddress = IPv4Interface | IPv6Interface
Subnet = IPv4Network | IPv6Network


class Role(StrEnum):
    """What a node is for; together with the forwarding method it implies the node's settings."""

    CLIENT = "client"
    ROUTER = "router"
    DIRECTOR = "director"
    REAL_SERVER = "real-server"
    NAME_SERVER = "name-server"
    RESOLVER = "resolver"


class Method(StrEnum):
    """Forwarding method (ipvsadm -m, -i, -g); `local` is what the kernel makes of a destination on the director."""

    NAT = "nat"
    TUN = "tun"
    DR = "dr"
    LOCAL = "local"


class Protocol(StrEnum):
    TCP = "tcp"
    UDP = "udp"
    SCTP = "sctp"


class Application(StrEnum):
    """What is spoken over a service, where it is more than a question and an answer."""

    FTP = "ftp"


class ArpCure(StrEnum):
    """What keeps servers that hold the VIP from being taken for its owner: the LVS papers' three cures."""

    SYSCTLS = "sysctls"
    ARPTABLES = "arptables"
    NEIGHBOUR = "neighbour"


class SchedulerFlag(StrEnum):
    """What a scheduler may be told beside its servers (ipvsadm -b): look past dead servers, hash the port too."""

    SH_FALLBACK = "sh-fallback"
    SH_PORT = "sh-port"
    MH_FALLBACK = "mh-fallback"
    MH_PORT = "mh-port"


class Setting(StrEnum):
    """Settings that roles imply and that ``without:`` can remove, one fault each."""

    VIP = "vip"
    ARP_IGNORE = "arp_ignore"
    ARP_ANNOUNCE = "arp_announce"
    ARPTABLES = "arptables"
    NEIGHBOUR = "neighbour"
    TUNNEL = "tunnel"
    RP_FILTER = "rp_filter"
    IP_FORWARD = "ip_forward"
    SEND_REDIRECTS = "send_redirects"
    DEFAULT_ROUTE = "default_route"
    SERVER = "server"
    MARK = "mark"
    MASQUERADE = "masquerade"
    CONNTRACK = "conntrack"
    SINGLE_HOMED = "single_homed"
    CLAMP_MSS = "clamp_mss"


class Filter(StrEnum):
    """What a firewall may drop that path MTU discovery and fragmentation need."""

    ICMP = "icmp"
    FRAGMENTS = "fragments"


@dataclass(frozen=True, slots=True)
class Shaping:
    """What a card's cable lets through, each way."""

    rate_bit_s: int | None = None
    """Bits per second, counted in Ethernet frames without their checksum; None: as fast as the kernel is."""
    delay_ms: int = 0

    def __bool__(self) -> bool:
        return self != UNSHAPED


UNSHAPED = Shaping()
DEFAULT_MTU = 1500
"""Ethernet's (RFC 894)."""


@dataclass(frozen=True, slots=True)
class Network:
    """One layer-2 segment: a switch, and the subnets on it."""

    name: str
    subnets: tuple[Subnet, ...]
    shaping: Shaping = UNSHAPED
    """Of its cards, where a node has none of its own."""
    mtu: int = DEFAULT_MTU


@dataclass(frozen=True, slots=True)
class Interface:
    """A node's network card on one network."""

    name: str
    network: str
    mac: str
    addresses: tuple[InterfaceAddress, ...]
    shaping: Shaping = UNSHAPED
    mtu: int = DEFAULT_MTU
    """Of the card, and of the switch's port that it is plugged into: bytes of an IP packet."""


@dataclass(frozen=True, slots=True)
class Route:
    """`to` is a subnet or None for the default route."""

    to: Subnet | None
    via: Address


@dataclass(frozen=True, slots=True)
class Node:
    """One machine. `settings` is what remains of the implied settings after ``without:``."""

    name: str
    role: Role
    interfaces: tuple[Interface, ...]
    settings: frozenset[Setting]
    gateway: tuple[Address, ...] = ()
    routes: tuple[Route, ...] = ()
    addresses: tuple[tuple[str, InterfaceAddress], ...] = ()
    """Further (device, address) pairs, beyond the interfaces' own and the implied VIPs."""
    sysctls: tuple[tuple[str, str], ...] = ()
    """Further (key, value) pairs, applied last: they win over implied ones."""
    drop: frozenset[Filter] = frozenset()
    """What it neither takes in nor forwards."""
    clamp_mss: int | None = None
    """Largest segment, in bytes, that connections through it or from it may agree on."""
    server: str | None = None
    """What answers on a real server: `builtin` or `nginx`."""

    def has(self, setting: Setting) -> bool:
        return setting in self.settings

    @property
    def own_addresses(self) -> tuple[Address, ...]:
        """Addresses on the interfaces (RIP, DIP, CIP), first interface first."""
        return tuple(address.ip for interface in self.interfaces for address in interface.addresses)


class TunnelKind(StrEnum):
    """Outer header of the TUN method (ipvsadm --tun-type)."""

    IPIP = "ipip"
    GUE = "gue"
    GRE = "gre"


class TunnelChecksum(StrEnum):
    """Checksum of the outer header: none, present, or GUE's remote checksum offload."""

    NONE = "nocsum"
    PRESENT = "csum"
    REMOTE = "remcsum"


@dataclass(frozen=True, slots=True)
class Tunnel:
    """How a TUN destination's packets are wrapped; `port` is the UDP port of GUE and 0 otherwise."""

    kind: TunnelKind = TunnelKind.IPIP
    port: int = 0
    checksum: TunnelChecksum = TunnelChecksum.NONE

    def __str__(self) -> str:
        port = f" port {self.port}" if self.port else ""
        return f"{self.kind}{port}" if self.checksum is TunnelChecksum.NONE else f"{self.kind}{port} {self.checksum}"


IPIP = Tunnel()


@dataclass(frozen=True, slots=True)
class Destination:
    """A real server as one virtual service sees it."""

    node: str
    address: Address
    port: int
    method: Method
    weight: int = 1
    upper_threshold: int = 0
    lower_threshold: int = 0
    tunnel: Tunnel = IPIP
    """With method TUN; `address` may then be of another IP version than the VIP."""


@dataclass(frozen=True, slots=True)
class VirtualService:
    """VIP, protocol and port at the director, and who serves it. `destinations` is in the order of adding."""

    director: str
    vip: Address
    vip_device: str
    """The director's interface that holds the VIP."""
    protocol: Protocol
    port: int
    method: Method
    scheduler: str
    destinations: tuple[Destination, ...]
    persistence_s: int | None = None
    vip_prefix: int | None = None
    """Prefix length of the VIP on the real servers' `lo`; None means a host address (/32, /128)."""
    persistence_prefix: int | None = None
    """Clients of one subnet of this length count as one (ipvsadm -M); None compares whole addresses."""
    one_packet: bool = False
    """UDP only: each datagram is scheduled by itself (ipvsadm -o)."""
    mark: int | None = None
    """Firewall mark that packets to this VIP, protocol and port get. The services of one mark at one director are one
    virtual service to the kernel (ipvsadm -f)."""
    flags: frozenset[SchedulerFlag] = frozenset()
    application: Application | None = None
    """None: HTTP over TCP, echo over UDP and SCTP."""
    source_nat: bool = False
    """NAT only: the director puts its own address in the client's place as well (FULLNAT)."""
    arp_cure: ArpCure = ArpCure.SYSCTLS
    """DR, and TUN on the VIP's network: sysctls or filters on the servers, or an entry by hand beside them."""

    @property
    def mark_key(self) -> tuple[str, int, int] | None:
        """Return what services that are one to the kernel by their firewall mark have in common; None without one."""
        return None if self.mark is None else (self.director, self.vip.version, self.mark)


@dataclass(frozen=True, slots=True)
class NameService:
    """Round-robin DNS: one name, one address record per server."""

    name: str
    server: str
    """Node of the authoritative name server."""
    resolver: str | None
    """Node of the caching resolver, if there is one."""
    ttl_s: int
    port: int
    """TCP port of the web servers behind the name."""
    records: tuple[tuple[str, Address], ...]
    """(node, address) in file order."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the test drive sends: connections per service, and the size of each answer's body."""

    connections: int | None = None
    """None: twice the number of real servers, plus one, at most enough to see the scheduler's cycle."""
    answer_bytes: int = 512
    request_bytes: int = 0
    """Each request is padded to so many bytes at least."""
    client: str | None = None
    """The node that calls; None: the first client, or all where clients are what is scheduled."""


@dataclass(frozen=True, slots=True)
class Topology:
    name: str
    title: Mapping[str, str]
    """By language: `en`, `zh`."""
    networks: tuple[Network, ...]
    nodes: tuple[Node, ...]
    services: tuple[VirtualService, ...] = ()
    name_services: tuple[NameService, ...] = ()
    expect: tuple[str, ...] = ()
    """Groups of expectations to judge; empty means all that apply."""
    traffic: Traffic = Traffic()
    params: Mapping[str, object] = field(default_factory=dict)
    source: str = ""
    """The file's path as given, or a description when built in code."""
    rendered: str = ""
    """The description as it was judged, parameters and removals filled in: :func:`lvslab.topology.load_text`
    makes the same topology of it. Empty when built in code."""

    def node(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    def network(self, name: str) -> Network:
        for network in self.networks:
            if network.name == name:
                return network
        raise KeyError(name)

    def with_role(self, role: Role) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.role is role)
