"""The program that carries out a step, for what netlink offers only to the kernel's own tools in a usable form."""

from __future__ import annotations

from functools import singledispatch

from lvslab.plan import programs, steps

TUNNEL_INDEX = 1000
"""Interface number of a tunnel device: behind those of the node's network cards, in whatever order they were made."""


@singledispatch
def tool_call(step: object) -> tuple[str, ...]:
    """Return the command to run in the step's node."""
    raise TypeError(f"no tool for {type(step).__name__}")


@tool_call.register
def _(step: steps.MarkPackets) -> tuple[str, ...]:
    return programs.marking(step.address, step.protocol, step.port, step.mark)


@tool_call.register
def _(step: steps.Masquerade) -> tuple[str, ...]:
    return programs.masquerading(step.vip)


@tool_call.register
def _(step: steps.DropArpRequests) -> tuple[str, ...]:
    return programs.dropping_arp_requests(step.address)


@tool_call.register
def _(step: steps.ReplaceArpSender) -> tuple[str, ...]:
    return programs.replacing_arp_sender(step.address, step.own)


@tool_call.register
def _(step: steps.DropPackets) -> tuple[str, ...]:
    return programs.dropping(step.chain, step.what)


@tool_call.register
def _(step: steps.ClampMss) -> tuple[str, ...]:
    return programs.clamping(step.mss)


@tool_call.register
def _(step: steps.MakeTunnel) -> tuple[str, ...]:
    """ip-link(8): an ip6tnl device that takes any sender and both IP versions inside."""
    number, local = str(TUNNEL_INDEX), str(step.local)
    kind = ("type", "ip6tnl", "mode", "any", "local", local, "remote", "::")
    return ("ip", "link", "add", step.device, "index", number, *kind)


@tool_call.register
def _(step: steps.ReceiveGue) -> tuple[str, ...]:
    return ("ip", "fou", "add", "port", str(step.port), "gue")
