"""The plan as commands a person could type, as root, on a machine that has none of these namespaces yet.

`ip`, `sysctl`, `ethtool` and `ipvsadm` only (ip-netns(8), ip-link(8), ipvsadm(8)); a test runs this text in a
kernel and compares the outcome with applying the same plan.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import singledispatch

from lvslab.plan import programs
from lvslab.plan.endpoint import endpoint
from lvslab.plan.steps import (
    BRIDGE,
    AddAddress,
    AddRoute,
    ChecksumOffloadOff,
    InstallService,
    LoadModules,
    MakeBridge,
    MakeLink,
    MakeNamespace,
    Plan,
    SetUp,
    StartNameServer,
    StartResolver,
    StartServer,
    Step,
    WriteSysctl,
)
from lvslab.topology.model import Destination, Method, Protocol, VirtualService

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
def _(step: SetUp) -> Iterator[str]:
    yield f"ip -n {step.node} link set {step.device} up"


@_lines.register
def _(step: ChecksumOffloadOff) -> Iterator[str]:
    yield f"ip netns exec {step.node} ethtool -K {step.device} tx off >/dev/null"


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
def _(step: InstallService) -> Iterator[str]:
    service = step.service
    where = f"{'-u' if service.protocol is Protocol.UDP else '-t'} {endpoint(service.vip, service.port)}"
    ipvsadm = f"ip netns exec {step.node} ipvsadm"
    persistence = "" if service.persistence_s is None else f" -p {service.persistence_s}"
    yield f"{ipvsadm} -A {where} -s {service.scheduler}{persistence}"
    for destination in service.destinations:
        yield f"{ipvsadm} -a {where} {_destination(service, destination)}"


def _destination(service: VirtualService, destination: Destination) -> str:
    local_port_map = destination.method is Method.LOCAL and destination.port != service.port
    flag = METHOD_FLAGS[Method.NAT if local_port_map else destination.method]
    text = f"-r {endpoint(destination.address, destination.port)} {flag} -w {destination.weight}"
    if destination.upper_threshold:
        text += f" -x {destination.upper_threshold}"
    if destination.lower_threshold:
        text += f" -y {destination.lower_threshold}"
    return text


@_lines.register
def _(step: StartServer) -> Iterator[str]:
    if step.program == "nginx":
        yield f"# {step.node}: nginx on port {step.port}, answering with its node's name"
    else:
        yield f"# {step.node}: any {step.kind} server on port {step.port} will do; lvslab's is built in"


@_lines.register
def _(step: StartNameServer) -> Iterator[str]:
    yield f"# {step.node}: lvslab's name server is built in; dnsmasq rotates as well, over UDP"
    yield _in_background(step.node, programs.name_server(step.service).argv)


@_lines.register
def _(step: StartResolver) -> Iterator[str]:
    yield _in_background(step.node, programs.resolver(step.upstream).argv)


def _in_background(node: str, argv: tuple[str, ...]) -> str:
    return f"ip netns exec {node} {shlex.join(argv)} >/dev/null 2>&1 &"
