"""The plan as commands a person could type, as root, on a machine that has none of these namespaces yet.

`ip`, `tc`, `sysctl`, `ethtool` and `ipvsadm` only (ip-netns(8), ip-link(8), tc-netem(8), ipvsadm(8)); a test runs
this text in a kernel and compares the outcome with applying the same plan.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import singledispatch
from ipaddress import IPv4Network

from lvslab.plan import programs
from lvslab.plan.endpoint import endpoint
from lvslab.plan.steps import (
    BRIDGE,
    AddAddress,
    AddNeighbour,
    AddRoute,
    ChecksumOffloadOff,
    ClampMss,
    DropArpRequests,
    DropPackets,
    InstallService,
    LoadModules,
    MakeBridge,
    MakeLink,
    MakeNamespace,
    MakeTunnel,
    MarkPackets,
    Masquerade,
    Plan,
    ReceiveGue,
    ReceiveOffloadOff,
    ReplaceArpSender,
    RequireSctp,
    SetMtu,
    SetUp,
    ShapeSending,
    StartNameServer,
    StartResolver,
    StartServer,
    Step,
    ToolStep,
    WriteSysctl,
)
from lvslab.plan.tools import tool_call
from lvslab.topology.model import Destination, Method, Protocol, TunnelChecksum, TunnelKind, VirtualService
from lvslab.topology.shaping import rate_text

PROTOCOL_FLAGS = {Protocol.TCP: "-t", Protocol.UDP: "-u", Protocol.SCTP: "--sctp-service"}
METHOD_FLAGS = {Method.NAT: "-m", Method.TUN: "-i", Method.DR: "-g", Method.LOCAL: "-g"}


def shell_script(plan: Plan) -> str:
    """Return a POSIX shell script that stops at the first command that fails."""
    lines = ["#!/bin/sh", f"# lvslab: topology {plan.topology}", "set -e"]
    lines += [line for step in plan.steps for line in shell_lines(step)]
    return "\n".join(lines) + "\n"


def shell_lines(step: Step) -> tuple[str, ...]:
    return tuple(_lines(step))


@singledispatch
def _lines(step: object) -> Iterator[str]:
    raise TypeError(f"no shell form of {type(step).__name__}")


@_lines.register
def _(step: LoadModules) -> Iterator[str]:
    yield f"modprobe -a {' '.join(step.names)}"


@_lines.register
def _(step: MakeNamespace) -> Iterator[str]:
    yield f"ip netns add {step.node}"


@_lines.register
def _(step: MakeBridge) -> Iterator[str]:
    yield f"ip -n {step.node} link add {BRIDGE} type bridge forward_delay 0 stp_state 0 mcast_snooping 0"
    yield f"ip -n {step.node} link set {BRIDGE} up"


@_lines.register
def _(step: MakeLink) -> Iterator[str]:
    peer = f"{step.interface} address {step.mac} netns {step.node}"
    yield f"ip -n {step.switch} link add {step.port} type veth peer name {peer}"
    yield f"ip -n {step.switch} link set {step.port} master {BRIDGE} up"


@_lines.register
def _(step: ShapeSending) -> Iterator[str]:
    delay = f" delay {step.shaping.delay_ms}ms" if step.shaping.delay_ms else ""
    rate = "" if step.shaping.rate_bit_s is None else f" rate {rate_text(step.shaping.rate_bit_s)}"
    yield f"tc -n {step.node} qdisc add dev {step.device} root netem limit {step.queue_packets}{delay}{rate}"


@_lines.register
def _(step: SetUp) -> Iterator[str]:
    yield f"ip -n {step.node} link set {step.device} up"


@_lines.register
def _(step: ChecksumOffloadOff) -> Iterator[str]:
    yield f"ip netns exec {step.node} ethtool -K {step.device} tx off >/dev/null"


@_lines.register
def _(step: ReceiveOffloadOff) -> Iterator[str]:
    yield f"ip netns exec {step.node} ethtool -K {step.device} gro off"


@_lines.register
def _(step: SetMtu) -> Iterator[str]:
    yield f"ip -n {step.node} link set {step.device} mtu {step.mtu}"


@_lines.register
def _(step: WriteSysctl) -> Iterator[str]:
    yield f"ip netns exec {step.node} sysctl -q -w {shlex.quote(f'{step.key}={step.value}')}"


@_lines.register
def _(step: AddAddress) -> Iterator[str]:
    lifetime = " preferred_lft 0" if step.deprecated else ""
    yield f"ip -n {step.node} addr add {step.address} dev {step.device}{lifetime}"


@_lines.register
def _(step: AddRoute) -> Iterator[str]:
    family = "-6 " if step.route.via.version == 6 else ""
    to = "default" if step.route.to is None else str(step.route.to)
    yield f"ip -n {step.node} {family}route add {to} via {step.route.via}"


@_lines.register
def _(step: AddNeighbour) -> Iterator[str]:
    yield f"ip -n {step.node} neigh add {step.address} lladdr {step.mac} dev {step.device} nud permanent"


@_lines.register(MarkPackets)
@_lines.register(Masquerade)
@_lines.register(MakeTunnel)
@_lines.register(ReceiveGue)
@_lines.register(DropArpRequests)
@_lines.register(ReplaceArpSender)
@_lines.register(DropPackets)
@_lines.register(ClampMss)
def _(step: ToolStep) -> Iterator[str]:
    yield f"ip netns exec {step.node} {shlex.join(tool_call(step))}"


@_lines.register
def _(step: InstallService) -> Iterator[str]:
    service = step.service
    where = _where(service)
    ipvsadm = f"ip netns exec {step.node} ipvsadm"
    yield f"{ipvsadm} -A {where} -s {service.scheduler}{_kind(service)}"
    for destination in service.destinations:
        yield f"{ipvsadm} -a {where} {_destination(service, destination)}"


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


@_lines.register
def _(step: RequireSctp) -> Iterator[str]:
    tracked = ", CONFIG_NF_CT_PROTO_SCTP" if step.tracked else ""
    yield f"# this needs a kernel with SCTP: CONFIG_IP_SCTP, CONFIG_IP_VS_PROTO_SCTP{tracked}"


@_lines.register
def _(step: StartServer) -> Iterator[str]:
    if step.program == "nginx":
        yield f"# {step.node}: nginx on port {step.port}, answering with its node's name"
    else:
        where = f"port {step.port}" if step.address is None else endpoint(step.address, step.port)
        yield f"# {step.node}: any {step.kind} server on {where} will do; lvslab's is built in"


@_lines.register
def _(step: StartNameServer) -> Iterator[str]:
    yield f"# {step.node}: lvslab's name server is built in; dnsmasq rotates as well, over UDP"
    yield _in_background(step.node, programs.name_server(step.service).argv)


@_lines.register
def _(step: StartResolver) -> Iterator[str]:
    yield _in_background(step.node, programs.resolver(step.upstream).argv)


def _in_background(node: str, argv: tuple[str, ...]) -> str:
    return f"ip netns exec {node} {shlex.join(argv)} >/dev/null 2>&1 &"
