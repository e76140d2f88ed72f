"""The plan as commands a person could type, as root, on a machine that has none of these namespaces yet.

A test runs this text in a kernel and compares the outcome with applying the same plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

from lvslab.plan.node_commands import node_commands
from lvslab.plan.steps import LoadModules, MakeLink, MakeNamespace, Plan, RequireSctp, Step
from lvslab.topology.switches import BRIDGE

NETNS_AWARE = ("ip", "tc")
"""Tools that enter a namespace themselves (ip-netns(8), tc(8): -n)."""


def shell_script(plan: Plan) -> str:
    """Return a POSIX shell script that stops at the first command that fails."""
    lines = ["#!/bin/sh", f"# lvslab: topology {plan.topology}", "set -e"]
    lines += [line for step in plan.steps for line in shell_lines(step)]
    return "\n".join(lines) + "\n"


def shell_lines(step: Step) -> tuple[str, ...]:
    return tuple(_lines(step))


@singledispatch
def _lines(step: Any) -> Iterator[str]:
    for line in node_commands(step):
        yield from_outside(step.node, line)


def from_outside(node: str, line: str) -> str:
    """Return a line that is to be typed in a node, as it is typed on the machine that has the node's namespace."""
    if line.startswith("# "):
        return f"# {node}: {line.removeprefix('# ')}"
    tool, _, rest = line.partition(" ")
    return f"{tool} -n {node} {rest}" if tool in NETNS_AWARE else f"ip netns exec {node} {line}"


@_lines.register
def _(step: LoadModules) -> Iterator[str]:
    yield f"modprobe -a {' '.join(step.names)}"


@_lines.register
def _(step: MakeNamespace) -> Iterator[str]:
    yield f"ip netns add {step.node}"


@_lines.register
def _(step: MakeLink) -> Iterator[str]:
    peer = f"{step.interface} address {step.mac} netns {step.node}"
    yield f"ip -n {step.switch} link add {step.port} type veth peer name {peer}"
    yield f"ip -n {step.switch} link set {step.port} master {BRIDGE} up"


@_lines.register
def _(step: RequireSctp) -> Iterator[str]:
    tracked = ", CONFIG_NF_CT_PROTO_SCTP" if step.tracked else ""
    yield f"# this needs a kernel with SCTP: CONFIG_IP_SCTP, CONFIG_IP_VS_PROTO_SCTP{tracked}"
