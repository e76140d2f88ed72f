"""A script for plain Mininet: a Topo class of LinuxBridge switches, and a shell script for each host.

Switches and their ports have Mininet's own names, s1 and s1-eth1, by which LinuxBridge finds its ports; a number that
a host has is left out. Hosts and their interfaces have the plan's.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from lvslab.exporting.baseline import ipv6_defaults, kernel_defaults, seeded
from lvslab.exporting.serving import serving_commands
from lvslab.plan.make import make_plan
from lvslab.plan.node_commands import node_commands
from lvslab.plan.steps import (
    AddAddress,
    ChecksumOffloadOff,
    LoadModules,
    MakeLink,
    MakeNamespace,
    Plan,
    RequireSctp,
    SetMtu,
    ShapeSending,
    StartServer,
    WriteSysctl,
)
from lvslab.topology.model import Application, Node, Role, Topology
from lvslab.topology.switches import switch_name
from lvslab.topology.wording import one_line

_MININETS_OWN = (LoadModules, RequireSctp, MakeNamespace, MakeLink, ChecksumOffloadOff)
"""Steps that Mininet does, or that only change what captures show."""
TEMPLATE = Path(__file__).with_name("mininet_script.py.j2")
_ENDS_DOCSTRING = '"\\'
"""What could end it, or begin an escape in it."""
_CARDS_DOWN = 'for card in /sys/class/net/eth*; do ip link set "${card##*/}" down; done'
_ANY_ADDRESS = {4: "0.0.0.0", 6: "::"}  # noqa: S104 - inside a host of the script


@dataclass(frozen=True, slots=True)
class Cable:
    node: str
    interface: str
    mac: str
    switch: str
    port: str
    """Name of the switch's end, which is the one that Mininet gives it."""


@dataclass(frozen=True, slots=True)
class Host:
    """`address` is the one that Mininet gives it, as ADDRESS/PREFIX, or empty: it takes no IPv6."""

    name: str
    address: str
    lines: tuple[str, ...]


def mininet_script(topology: Topology) -> str:
    """Return the text of a Python script."""
    from jinja2 import Environment, StrictUndefined

    plan = make_plan(topology)
    hosts = {node.name for node in topology.nodes}
    free = (name for number in count(1) if (name := f"s{number}") not in hosts)
    switches = {switch_name(network.name): name for network, name in zip(topology.networks, free, strict=False)}
    environment = Environment(  # noqa: S701 - this is Python, and its filters are below
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"literal": python_literal, "literal_lines": python_lines}
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        topology=topology,
        title=one_line(topology.title["en"], without=_ENDS_DOCSTRING),
        class_name=_class_name(topology.name),
        switches=switches,
        networks={switches[switch_name(network.name)]: network for network in topology.networks},
        client=next((node.name for node in topology.nodes if node.role is Role.CLIENT), topology.nodes[0].name),
        baseline=[_CARDS_DOWN, *kernel_defaults(), *ipv6_defaults()],
        hosts=[_host(plan, node) for node in topology.nodes],
        cables=(cables := list(_cables(plan, switches))),
        ports=list(_port_commands(plan, cables)),
        modules=[name for step in plan.steps if isinstance(step, LoadModules) for name in step.names],
    )


def python_literal(text: str) -> str:
    """Return text as a string in Python; of ASCII, JSON's are Python's, and in double quotes."""
    return json.dumps(text) if text.isascii() else repr(text)


def python_lines(lines: Iterable[str]) -> str:
    """Return lines as one string in Python, as they are where a raw string can hold them."""
    text = "".join(f"{line}\n" for line in lines)
    plain = all(each.isprintable() or each == "\n" for each in text) and '"""' not in text
    return f'r"""\n{text}"""' if plain else python_literal(f"\n{text}")


def _class_name(topology: str) -> str:
    """Return a name as classes have it; the letter first, since a topology's may begin with a digit."""
    words = "".join(part.capitalize() for part in re.split(r"[^A-Za-z0-9]+", topology))
    return f"{'T' if words[0].isdigit() else ''}{words}Topo"


def _host(plan: Plan, node: Node) -> Host:
    first = next(iter(node.interfaces[0].addresses), None) if node.interfaces else None
    address = str(first) if first is not None and first.version == 4 else ""
    return Host(node.name, address, tuple(_lines(plan, node, address)))


def _lines(plan: Plan, node: Node, address: str) -> Iterator[str]:
    """Yield what is typed on a host whose cards are there, with `address`, and are down."""
    links = [step for step in plan.steps if isinstance(step, MakeLink) and step.node == node.name]
    for step in plan.steps:
        if isinstance(step, _MININETS_OWN) or step.node != node.name:
            continue
        if isinstance(step, AddAddress) and step.device == node.interfaces[0].name and str(step.address) == address:
            continue
        yield from _serving(step) if isinstance(step, StartServer) else node_commands(step)
        if isinstance(step, WriteSysctl):
            for again in seeded(step, links):
                yield from node_commands(again)


def _cables(plan: Plan, switches: dict[str, str]) -> Iterator[Cable]:
    ports = Counter[str]()
    for link in plan.steps:
        if isinstance(link, MakeLink):
            switch = switches[link.switch]
            ports[switch] += 1
            yield Cable(link.node, link.interface, link.mac, switch, f"{switch}-eth{ports[switch]}")


def _port_commands(plan: Plan, cables: list[Cable]) -> Iterator[str]:
    """Yield what is to be set at the switches' ends of cables."""
    links = [step for step in plan.steps if isinstance(step, MakeLink)]
    ports = {(link.switch, link.port): cable.port for link, cable in zip(links, cables, strict=True)}
    for step in plan.steps:
        if isinstance(step, SetMtu | ShapeSending) and (step.node, step.device) in ports:
            for line in node_commands(step):
                yield line.replace(f" {step.device} ", f" {ports[step.node, step.device]} ", 1)


def _serving(step: StartServer) -> Iterator[str]:
    """Yield the lines that leave a server running: the script's own, nginx, or a comment."""
    if step.program == "nginx":
        yield from serving_commands(step)
    elif step.kind == Application.FTP:
        yield from node_commands(step)
    else:
        address = _ANY_ADDRESS[step.family] if step.address is None else str(step.address)
        words = (step.node, step.kind, address, str(step.port), str(step.answer_bytes))
        yield f'python3 -c "$SERVER" {shlex.join(words)} </dev/null >/dev/null 2>&1'
