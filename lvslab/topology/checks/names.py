"""Names: they become host names, namespaces, and parts of interface names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lvslab.topology.faults import Fault
from lvslab.topology.limits import NAME_LENGTH
from lvslab.topology.model import Topology
from lvslab.topology.switches import NO_PORTS, switch_name

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
"""RFC 1123, section 2.1, in lower case."""
TOPOLOGY_NAME_LENGTH = 63


def check_names(topology: Topology) -> Iterator[Fault]:
    if not is_label(topology.name, TOPOLOGY_NAME_LENGTH):
        yield _bad_name(("name",), topology.name, TOPOLOGY_NAME_LENGTH)
    for key, names in (
        ("networks", [network.name for network in topology.networks]),
        ("nodes", [node.name for node in topology.nodes]),
    ):
        if not names:
            yield Fault((key,), "there are none", expected="at least one")
        yield from _check_each(key, names)
    yield from _check_free(topology)


def _check_each(key: str, names: Iterable[str]) -> Iterator[Fault]:
    seen: set[str] = set()
    for name in names:
        if not is_label(name, NAME_LENGTH):
            yield _bad_name((key, name), name, NAME_LENGTH)
        if name in seen:
            yield Fault((key, name), "duplicate name", found=repr(name))
        seen.add(name)


def _check_free(topology: Topology) -> Iterator[Fault]:
    """Refuse nodes that would have the name of a switch, or whose switch's port would have one that is taken."""
    switches = {switch_name(network.name): network.name for network in topology.networks}
    for node in topology.nodes:
        if node.name in switches:
            yield _taken(node.name, f"the switch of the network {switches[node.name]} has it")
        elif node.name in NO_PORTS:
            yield _taken(node.name, "the kernel keeps it for something of its own")


def _taken(name: str, why: str) -> Fault:
    return Fault(("nodes", name), "a name that is taken", "one that nothing else has", f"{name!r}: {why}")


def label_rule(longest: int) -> str:
    """Say what :func:`is_label` asks for."""
    return f"at most {longest} letters a-z, digits and inner hyphens (RFC 1123)"


def is_label(name: str, longest: int) -> bool:
    """Tell whether a name is an RFC 1123 label of at most `longest` characters."""
    return len(name) <= longest and _LABEL.fullmatch(name) is not None


def _bad_name(path: tuple[str, ...], name: str, longest: int) -> Fault:
    return Fault(path, "unusable name", label_rule(longest), repr(name))
