"""The plan as numbered lines of plain words, and as plain values for ``--json``."""

from __future__ import annotations

from functools import singledispatch

from lvslab.plan import steps
from lvslab.plan.endpoint import endpoint
from lvslab.topology.model import IPIP, Destination, Filter, VirtualService
from lvslab.topology.shaping import rate_text
from lvslab.topology.switches import BRIDGE


@singledispatch
def describe(step: object) -> str:
    """Return what a step does, in words."""
    raise TypeError(f"no description of {type(step).__name__}")


@describe.register
def _(step: steps.LoadModules) -> str:
    return f"load kernel modules: {', '.join(step.names)}"


@describe.register
def _(step: steps.MakeNamespace) -> str:
    return f"{step.node}: make the namespace"


@describe.register
def _(step: steps.MakeBridge) -> str:
    return f"{step.node}: make the switch (bridge {BRIDGE})"


@describe.register
def _(step: steps.MakeLink) -> str:
    return f"{step.node}: connect {step.interface} ({step.mac}) to {step.switch}"


@describe.register
def _(step: steps.MakeTunnel) -> str:
    return f"{step.node}: make the tunnel device {step.device} for packets to {step.local}"


@describe.register
def _(step: steps.ReceiveGue) -> str:
    return f"{step.node}: unwrap GUE that comes in on UDP port {step.port}"


@describe.register
def _(step: steps.ShapeSending) -> str:
    shaping = step.shaping
    rate = "" if shaping.rate_bit_s is None else f" at {rate_text(shaping.rate_bit_s)}"
    delay = f" with a delay of {shaping.delay_ms} ms" if shaping.delay_ms else ""
    return f"{step.node}: let {step.device} send{rate}{delay}, from a queue of {step.queue_packets} packets"


@describe.register
def _(step: steps.SetUp) -> str:
    return f"{step.node}: set {step.device} up"


@describe.register
def _(step: steps.ChecksumOffloadOff) -> str:
    return f"{step.node}: turn transmit checksum offload of {step.device} off"


@describe.register
def _(step: steps.WriteSysctl) -> str:
    return f"{step.node}: set {step.key} = {step.value}"


@describe.register
def _(step: steps.AddAddress) -> str:
    return f"{step.node}: add address {step.address} to {step.device}" + (" (deprecated)" if step.deprecated else "")


@describe.register
def _(step: steps.AddRoute) -> str:
    return f"{step.node}: add {_route(step)} via {step.route.via}"


def _route(step: steps.AddRoute) -> str:
    return "a default route" if step.route.to is None else f"a route to {step.route.to}"


@describe.register
def _(step: steps.MarkPackets) -> str:
    return f"{step.node}: mark {step.protocol.value} {endpoint(step.address, step.port)} with {step.mark}"


@describe.register
def _(step: steps.Masquerade) -> str:
    return f"{step.node}: put its own address in the place of the clients of {step.vip}"


@describe.register
def _(step: steps.DropArpRequests) -> str:
    return f"{step.node}: hear no ARP request for {step.address}"


@describe.register
def _(step: steps.ReplaceArpSender) -> str:
    return f"{step.node}: send ARP as {step.own} instead of {step.address}"


@describe.register
def _(step: steps.DropPackets) -> str:
    return f"{step.node}: drop {'ICMP' if step.what is Filter.ICMP else 'fragments'} in {step.chain}"


@describe.register
def _(step: steps.ClampMss) -> str:
    return f"{step.node}: lower the largest TCP segment to {step.mss} bytes"


@describe.register
def _(step: steps.SetMtu) -> str:
    return f"{step.node}: set the MTU of {step.device} to {step.mtu}"


@describe.register
def _(step: steps.ReceiveOffloadOff) -> str:
    return f"{step.node}: let {step.device} merge nothing that it received"


@describe.register
def _(step: steps.AddNeighbour) -> str:
    return f"{step.node}: enter {step.address} at {step.mac} on {step.device}, never to be asked for"


@describe.register
def _(step: steps.InstallService) -> str:
    service = step.service
    servers = ", ".join(
        f"{destination.node} {endpoint(destination.address, destination.port)} weight {destination.weight}"
        f"{_tunnel(destination)}{_thresholds(destination)}"
        for destination in service.destinations
    )
    head = f"{_found_by(service)}, method {service.method}, {service.scheduler}{_kind(service)}"
    return f"{step.node}: install the virtual service {head}: {servers}"


def _tunnel(destination: Destination) -> str:
    return "" if destination.tunnel == IPIP else f" tunnel {destination.tunnel}"


def _thresholds(destination: Destination) -> str:
    if not destination.upper_threshold:
        return ""
    return f" upper {destination.upper_threshold} lower {destination.lower_threshold}"


def _found_by(service: VirtualService) -> str:
    if service.mark is not None:
        return f"firewall mark {service.mark}"
    return f"{service.protocol.value} {endpoint(service.vip, service.port)}"


def _kind(service: VirtualService) -> str:
    """Say what is not so with most services."""
    text = "" if service.persistence_s is None else f", persistent {service.persistence_s} s"
    if service.persistence_prefix is not None:
        text += f" by /{service.persistence_prefix}"
    text += ", one packet" if service.one_packet else ""
    return text + "".join(f", {flag}" for flag in sorted(service.flags))


@describe.register
def _(step: steps.RequireSctp) -> str:
    tracked = ", and that connection tracking knows it" if step.tracked else ""
    return f"check that the kernel speaks SCTP and its IPVS schedules it{tracked}"


@describe.register
def _(step: steps.StartServer) -> str:
    where = f"port {step.port}" if step.address is None else endpoint(step.address, step.port)
    return f"{step.node}: start the {step.kind} server on {where} ({step.program})"


@describe.register
def _(step: steps.StartNameServer) -> str:
    return f"{step.node}: start the name server of {step.service.name} (built in)"


@describe.register
def _(step: steps.StartResolver) -> str:
    return f"{step.node}: start a caching resolver in front of {step.upstream} (dnsmasq)"
