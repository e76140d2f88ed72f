"""A step as commands typed in its own node: a namespace, a container, or a machine of its own.

`ip`, `tc`, `sysctl`, `ethtool` and `ipvsadm` (ip-link(8), tc-netem(8), ipvsadm(8)), and what
:mod:`lvslab.plan.tools` calls.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import singledispatch
from ipaddress import IPv4Network

from lvslab.plan import programs
from lvslab.plan.endpoint import endpoint
from lvslab.plan.steps import (
    AddAddress,
    AddNeighbour,
    AddRoute,
    ChecksumOffloadOff,
    ClampMss,
    DropArpRequests,
    DropPackets,
    InstallService,
    MakeBridge,
    MakeTunnel,
    MarkPackets,
    Masquerade,
    ReceiveGue,
    ReceiveOffloadOff,
    ReplaceArpSender,
    SetMtu,
    SetUp,
    ShapeSending,
    StartNameServer,
    StartResolver,
    StartServer,
    ToolStep,
    WriteSysctl,
)
from lvslab.plan.tools import tool_call
from lvslab.topology.model import Destination, Method, Protocol, TunnelChecksum, TunnelKind, VirtualService
from lvslab.topology.shaping import rate_text
from lvslab.topology.switches import BRIDGE

PROTOCOL_FLAGS = {Protocol.TCP: "-t", Protocol.UDP: "-u", Protocol.SCTP: "--sctp-service"}
METHOD_FLAGS = {Method.NAT: "-m", Method.TUN: "-i", Method.DR: "-g", Method.LOCAL: "-g"}


@singledispatch
def node_commands(step: object) -> Iterator[str]:
    """Yield the lines that carry out a step in its node; comments for servers that are lvslab's own."""
    raise TypeError(f"no shell form of {type(step).__name__}")


@node_commands.register
def _(_step: MakeBridge) -> Iterator[str]:
    yield f"ip link add {BRIDGE} type bridge forward_delay 0 stp_state 0 mcast_snooping 0"
    yield f"ip link set {BRIDGE} up"


@node_commands.register
def _(step: ShapeSending) -> Iterator[str]:
    delay = f" delay {step.shaping.delay_ms}ms" if step.shaping.delay_ms else ""
    rate = "" if step.shaping.rate_bit_s is None else f" rate {rate_text(step.shaping.rate_bit_s)}"
    yield f"tc qdisc add dev {step.device} root netem limit {step.queue_packets}{delay}{rate}"


@node_commands.register
def _(step: SetUp) -> Iterator[str]:
    yield f"ip link set {step.device} up"


@node_commands.register
def _(step: ChecksumOffloadOff) -> Iterator[str]:
    yield f"ethtool -K {step.device} tx off >/dev/null"


@node_commands.register
def _(step: ReceiveOffloadOff) -> Iterator[str]:
    yield f"ethtool -K {step.device} gro off"


@node_commands.register
def _(step: SetMtu) -> Iterator[str]:
    yield f"ip link set {step.device} mtu {step.mtu}"


@node_commands.register
def _(step: WriteSysctl) -> Iterator[str]:
    yield f"sysctl -q -w {shlex.quote(f'{step.key}={step.value}')}"


@node_commands.register
def _(step: AddAddress) -> Iterator[str]:
    lifetime = " preferred_lft 0" if step.deprecated else ""
    yield f"ip addr add {step.address} dev {step.device}{lifetime}"


@node_commands.register
def _(step: AddRoute) -> Iterator[str]:
    family = "-6 " if step.route.via.version == 6 else ""
    to = "default" if step.route.to is None else str(step.route.to)
    yield f"ip {family}route add {to} via {step.route.via}"


@node_commands.register
def _(step: AddNeighbour) -> Iterator[str]:
    yield f"ip neigh add {step.address} lladdr {step.mac} dev {step.device} nud permanent"


@node_commands.register(MarkPackets)
@node_commands.register(Masquerade)
@node_commands.register(MakeTunnel)
@node_commands.register(ReceiveGue)
@node_commands.register(DropArpRequests)
@node_commands.register(ReplaceArpSender)
@node_commands.register(DropPackets)
@node_commands.register(ClampMss)
def _(step: ToolStep) -> Iterator[str]:
    yield shlex.join(tool_call(step))


@node_commands.register
def _(step: InstallService) -> Iterator[str]:
    service = step.service
    where = _where(service)
    yield f"ipvsadm -A {where} -s {service.scheduler}{_kind(service)}"
    for destination in service.destinations:
        yield f"ipvsadm -a {where} {_destination(service, destination)}"


def _where(service: VirtualService) -> str:
    if service.mark is not None:
        return f"-f {service.mark}" + (" -6" if service.vip.version == 6 else "")
    return f"{PROTOCOL_FLAGS[service.protocol]} {endpoint(service.vip, service.port)}"


def _kind(service: VirtualService) -> str:
    text = "" if service.persistence_s is None else f" -p {service.persistence_s}"
    if service.persistence_prefix is not None:
        text += f" -M {_client_mask(service)}"
    if service.flags:
        text += f" -b {','.join(sorted(service.flags))}"
    return text + (" -o" if service.one_packet else "")


def _client_mask(service: VirtualService) -> str:
    """Return a prefix as ipvsadm(8) takes it: a dotted mask for IPv4, a length for IPv6."""
    prefix = service.persistence_prefix
    return str(prefix) if service.vip.version == 6 else str(IPv4Network((0, prefix or 0)).netmask)


def _tunnel(destination: Destination) -> str:
    tunnel = destination.tunnel
    text = "" if tunnel.kind is TunnelKind.IPIP else f" --tun-type {tunnel.kind}"
    text += f" --tun-port {tunnel.port}" if tunnel.port else ""
    return text if tunnel.checksum is TunnelChecksum.NONE else f"{text} --tun-{tunnel.checksum}"


def _destination(service: VirtualService, destination: Destination) -> str:
    local_port_map = destination.method is Method.LOCAL and destination.port != service.port
    flag = METHOD_FLAGS[Method.NAT if local_port_map else destination.method]
    port = destination.port if service.mark is None else 0
    text = f"-r {endpoint(destination.address, port)} {flag} -w {destination.weight}"
    text += _tunnel(destination)
    if destination.upper_threshold:
        text += f" -x {destination.upper_threshold}"
    if destination.lower_threshold:
        text += f" -y {destination.lower_threshold}"
    return text


@node_commands.register
def _(step: StartServer) -> Iterator[str]:
    if step.program == "nginx":
        yield f"# nginx on port {step.port}, answering with its node's name"
    else:
        where = f"port {step.port}" if step.address is None else endpoint(step.address, step.port)
        yield f"# any {step.kind} server on {where} will do; lvslab's is built in"


@node_commands.register
def _(step: StartNameServer) -> Iterator[str]:
    yield "# lvslab's name server is built in; dnsmasq rotates as well, over UDP"
    yield _in_background(programs.name_server(step.service).argv)


@node_commands.register
def _(step: StartResolver) -> Iterator[str]:
    yield _in_background(programs.resolver(step.upstream).argv)


def _in_background(argv: tuple[str, ...]) -> str:
    return f"{shlex.join(argv)} >/dev/null 2>&1 &"
