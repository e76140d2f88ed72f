"""The typed steps that make a network out of a topology. Pure values: applying and printing are elsewhere.

`node` is always the namespace the step works in; a switch is a namespace of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.topology.model import (
    Address,
    Filter,
    InterfaceAddress,
    NameService,
    Protocol,
    Route,
    Shaping,
    VirtualService,
)


@dataclass(frozen=True, slots=True)
class LoadModules:
    """Kernel modules the rest needs; a kernel that has them built in has no file for them."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequireSctp:
    """Go on only if the kernel can run SCTP services; with `tracked`, if it can translate their clients, too."""

    tracked: bool


@dataclass(frozen=True, slots=True)
class MakeNamespace:
    node: str


@dataclass(frozen=True, slots=True)
class MakeBridge:
    """The switch of one network; it learns, forwards at once and speaks no protocol of its own."""

    node: str


@dataclass(frozen=True, slots=True)
class MakeLink:
    """A cable: a veth pair from a node's interface to a port of a switch."""

    node: str
    interface: str
    mac: str
    switch: str
    port: str


@dataclass(frozen=True, slots=True)
class ShapeSending:
    """What one end of a cable sends goes out at a rate, and arrives after a delay (tc-netem(8))."""

    node: str
    device: str
    shaping: Shaping
    queue_packets: int
    """So many packets are held at most; more are dropped."""


@dataclass(frozen=True, slots=True)
class MakeTunnel:
    """A device that unwraps IPv4 and IPv6 out of IPv6 packets to one of the node's addresses (RFC 2473)."""

    node: str
    device: str
    local: Address


@dataclass(frozen=True, slots=True)
class ReceiveGue:
    """Let the kernel unwrap what comes in on a UDP port: Generic UDP Encapsulation (ip-fou(8))."""

    node: str
    port: int


@dataclass(frozen=True, slots=True)
class SetUp:
    node: str
    device: str


@dataclass(frozen=True, slots=True)
class ChecksumOffloadOff:
    """Let the sender compute checksums, so that captures show what a wire would carry."""

    node: str
    device: str


@dataclass(frozen=True, slots=True)
class SetMtu:
    """The largest IP packet that one end of a cable sends or takes, in bytes. veth drops larger ones silently."""

    node: str
    device: str
    mtu: int


@dataclass(frozen=True, slots=True)
class ReceiveOffloadOff:
    """Let no device put packets together that came one by one (GRO), so that captures show what came."""

    node: str
    device: str


@dataclass(frozen=True, slots=True)
class WriteSysctl:
    node: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class AddAddress:
    node: str
    device: str
    address: InterfaceAddress
    deprecated: bool = False
    """IPv6 only: never chosen as a source address (preferred lifetime 0)."""


@dataclass(frozen=True, slots=True)
class AddRoute:
    node: str
    route: Route


@dataclass(frozen=True, slots=True)
class InstallService:
    """A virtual service and its destinations, in the order of adding."""

    node: str
    service: VirtualService


@dataclass(frozen=True, slots=True)
class MarkPackets:
    """Give what comes for one address, protocol and port a firewall mark, by which IPVS finds the service."""

    node: str
    mark: int
    address: Address
    protocol: Protocol
    port: int


@dataclass(frozen=True, slots=True)
class Masquerade:
    """Give what IPVS sends on for one VIP an address of the director's as its source."""

    node: str
    vip: Address


@dataclass(frozen=True, slots=True)
class DropArpRequests:
    """Let a node hear no ARP request for an address that it has."""

    node: str
    address: Address


@dataclass(frozen=True, slots=True)
class ReplaceArpSender:
    """Have a node name its own address where it would send ARP as another that it has."""

    node: str
    address: Address
    own: Address


@dataclass(frozen=True, slots=True)
class DropPackets:
    """Neither take in nor forward what path MTU discovery or fragmentation needs."""

    node: str
    chain: str
    what: Filter


@dataclass(frozen=True, slots=True)
class ClampMss:
    """Write a smaller segment size into what passes or leaves of TCP's opening."""

    node: str
    mss: int


@dataclass(frozen=True, slots=True)
class AddNeighbour:
    """Tell a node the MAC of an address once and for all: it never asks, and believes nobody else."""

    node: str
    device: str
    address: Address
    mac: str


@dataclass(frozen=True, slots=True)
class StartServer:
    """A server that says which node it is. `kind`: http or an echo (udp-, tcp-, sctp-); `program`: builtin or nginx.

    `address`: the one it is bound to; None for every one of the family.
    """

    node: str
    kind: str
    port: int
    answer_bytes: int
    family: int
    program: str = "builtin"
    address: Address | None = None


@dataclass(frozen=True, slots=True)
class StartNameServer:
    """The authoritative server of a round-robin name; lvslab's own turns its answers by one each time."""

    node: str
    service: NameService


@dataclass(frozen=True, slots=True)
class StartResolver:
    """A caching resolver that keeps the order it once got: dnsmasq with --no-round-robin."""

    node: str
    service: NameService
    upstream: str
    """Address of the authoritative server."""


ToolStep = (
    MakeTunnel | ReceiveGue | MarkPackets | Masquerade | DropArpRequests | ReplaceArpSender | DropPackets | ClampMss
)
"""Steps that a program of the kernel's own tools carries out in the node."""

Step = (
    LoadModules
    | RequireSctp
    | MakeNamespace
    | MakeBridge
    | MakeLink
    | ShapeSending
    | MakeTunnel
    | ReceiveGue
    | SetUp
    | ChecksumOffloadOff
    | WriteSysctl
    | AddAddress
    | AddRoute
    | MarkPackets
    | Masquerade
    | DropArpRequests
    | DropPackets
    | ClampMss
    | SetMtu
    | ReceiveOffloadOff
    | ReplaceArpSender
    | AddNeighbour
    | InstallService
    | StartServer
    | StartNameServer
    | StartResolver
)


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps of one topology, in the order of applying."""

    topology: str
    steps: tuple[Step, ...]

    def of_kind(self, kind: type[Step]) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if isinstance(step, kind))
