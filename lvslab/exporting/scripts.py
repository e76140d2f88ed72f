"""One shell script for each node: what makes a member of the cluster of a container that an engine has wired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lvslab.exporting.baseline import ipv6_defaults, kernel_defaults, seeded, taken_down
from lvslab.exporting.files import ExportedFile
from lvslab.exporting.serving import serving_commands
from lvslab.plan.node_commands import node_commands
from lvslab.plan.steps import (
    ChecksumOffloadOff,
    LoadModules,
    MakeLink,
    MakeNamespace,
    Plan,
    ReceiveOffloadOff,
    RequireSctp,
    StartServer,
    Step,
    WriteSysctl,
)
from lvslab.topology.model import Network, Node
from lvslab.topology.switches import BRIDGE, switch_name

_ENGINES_OWN = (LoadModules, RequireSctp, MakeNamespace, MakeLink)
"""Steps that are the engine's, or its host's."""
_QUIET = " >/dev/null"


def node_script(plan: Plan, node: Node) -> str:
    """Return the script of a node whose interfaces are there by name; it stops at the first command that fails."""
    return _text(plan, node.name, _node_lines(plan, node))


def switch_script(plan: Plan, network: Network) -> str:
    """Return the script of a switch that is a container itself: its ports are named after the nodes."""
    return _text(plan, switch_name(network.name), _switch_lines(plan, network))


def modules_script(plan: Plan) -> ExportedFile:
    """Return what the engine's host runs once, as root: containers share its kernel, and load no modules."""
    names = " ".join(name for step in plan.steps if isinstance(step, LoadModules) for name in step.names)
    heading = "# Once on each machine of the engine, as root. What is built into the kernel has no module."
    return ExportedFile("modules.sh", f"{heading}\nmodprobe -a {names}\n")


def _text(plan: Plan, name: str, lines: Iterable[str]) -> str:
    heading = f"# lvslab: {name} of topology {plan.topology}; sh, as root, in its container"
    return "\n".join([heading, "set -e", *lines]) + "\n"


def _node_lines(plan: Plan, node: Node) -> Iterator[str]:
    links = [step for step in plan.steps if isinstance(step, MakeLink) and step.node == node.name]
    steps = _steps_of(plan, node.name)
    first_link = plan.steps.index(links[0]) if links else 0
    yield from taken_down(node.interfaces)
    yield from kernel_defaults()
    if any(address.version == 6 for address in node.own_addresses):
        yield from ipv6_defaults()
    for position, step in steps:
        yield from _commands(step)
        if isinstance(step, WriteSysctl) and position < first_link:
            for again in seeded(step, links):
                yield from node_commands(again)


def _switch_lines(plan: Plan, network: Network) -> Iterator[str]:
    name = switch_name(network.name)
    for _, step in _steps_of(plan, name):
        yield from _commands(step)
    for link in plan.steps:
        if isinstance(link, MakeLink) and link.switch == name:
            yield f"ip link set {link.port} mtu {network.mtu} master {BRIDGE} up"


def _steps_of(plan: Plan, name: str) -> list[tuple[int, Step]]:
    return [
        (position, step)
        for position, step in enumerate(plan.steps)
        if not isinstance(step, _ENGINES_OWN) and step.node == name
    ]


def _commands(step: Step) -> Iterator[str]:
    if isinstance(step, StartServer):
        yield from serving_commands(step)
    elif isinstance(step, (ChecksumOffloadOff, ReceiveOffloadOff)):
        # A macvlan's offloads are its parent's to set; all that it changes is what captures show.
        yield from (f"{line.removesuffix(_QUIET)}{_QUIET} 2>&1 || true" for line in node_commands(step))
    else:
        yield from node_commands(step)
