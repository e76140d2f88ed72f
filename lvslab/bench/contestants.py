"""Ways to build one network, each timed in the same kernel: lvslab's own, `ip -batch`, Mininet, and the least there is.

All but the least make the same network: namespaces, bridges, cables, addresses and routes, which is what Mininet and
`ip` know of. A time for removing ends when the kernel has freed everything, not when a tool returns.
"""

from __future__ import annotations

import json
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from lvslab.agent.processes import SEARCH_PATH
from lvslab.bench.batch import batch_script, removal_script
from lvslab.bench.in_kernel import run_program, run_text
from lvslab.kernels.start import RunningKernel
from lvslab.mininet.install import find_mininet
from lvslab.plan import make_plan
from lvslab.plan.steps import AddAddress, AddRoute, LoadModules, MakeBridge, MakeLink, MakeNamespace, Plan, SetUp
from lvslab.sandbox import rtnl
from lvslab.sandbox.sandbox import Sandbox
from lvslab.sandbox.transport import NETLINK_ROUTE, NetlinkTransport, Target
from lvslab.topology.model import Topology
from lvslab.topology.switches import switch_name

NETWORK_STEPS = (LoadModules, MakeNamespace, MakeBridge, MakeLink, SetUp, AddAddress, AddRoute)
"""What all contestants do; servers, IPVS, sysctls and offloads are left out."""
BRIDGE_TOOL = "brctl"
"""What the LinuxBridge of Mininet calls."""
WITNESSES = ("witness-a", "witness-b")
POLL_S = 0.001


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds."""

    build_s: float
    remove_s: float

    @property
    def total_s(self) -> float:
        return self.build_s + self.remove_s


Contestant = Callable[[RunningKernel, Topology], Timing]
"""Builds the network of a topology and removes it. Raises KernelFault."""


def network_plan(topology: Topology) -> Plan:
    plan = make_plan(topology)
    return replace(plan, steps=tuple(step for step in plan.steps if isinstance(step, NETWORK_STEPS)))


def own(kernel: RunningKernel, plan: Plan) -> Timing:
    sandbox = Sandbox(kernel, plan)
    with freed(kernel) as wait_until_freed:
        begun = time.perf_counter()
        sandbox.build()
        built = time.perf_counter()
        sandbox.remove()
        wait_until_freed()
        return Timing(built - begun, time.perf_counter() - built)


def ip_batch(kernel: RunningKernel, plan: Plan) -> Timing:
    build, remove = _without_modules(batch_script(plan)), removal_script(plan)
    with freed(kernel) as wait_until_freed:
        begun = time.perf_counter()
        run_text(kernel, build)
        built = time.perf_counter()
        run_text(kernel, remove)
        wait_until_freed()
        return Timing(built - begun, time.perf_counter() - built)


def _without_modules(script: str) -> str:
    """Lvslab's own agent loads modules; that it is quicker there than modprobe is no part of the comparison."""
    return "".join(line for line in script.splitlines(keepends=True) if not line.startswith("modprobe"))


def mininet(kernel: RunningKernel, topology: Topology, python: str) -> Timing:
    path = kernel.folder.share / f"network-{secrets.token_hex(4)}"
    path.write_text(json.dumps(for_mininet(topology)))
    try:
        return _program(kernel, "mininet_network", str(path), python=python)
    finally:
        path.unlink()


def floor(kernel: RunningKernel, nodes: int) -> Timing:
    return _program(kernel, "floor", str(nodes))


def _program(kernel: RunningKernel, name: str, *words: str, python: str = sys.executable) -> Timing:
    with freed(kernel) as wait_until_freed:
        seconds = run_program(kernel, name, *words, python=python)
        ended = time.perf_counter()
        wait_until_freed()
        return Timing(seconds["build_s"], seconds["remove_s"] + time.perf_counter() - ended)


def for_mininet(topology: Topology) -> dict[str, Any]:
    """Return what lvslab/bench/guest/mininet_network.py builds: the same switches, hosts, addresses and routes."""
    hosts = [
        {
            "name": node.name,
            "cables": [(switch_name(each.network), str(each.addresses[0])) for each in node.interfaces],
            "gateway": str(node.gateway[0]) if node.gateway else None,
        }
        for node in topology.nodes
    ]
    return {"switches": [switch_name(network.name) for network in topology.networks], "hosts": hosts}


def python_with_mininet() -> str | None:
    """Return a Python that has Mininet, None if none has or a program that its network needs is missing."""
    found = find_mininet()
    return found.python if found is not None and shutil.which(BRIDGE_TOOL, path=SEARCH_PATH) else None


@contextmanager
def freed(kernel: RunningKernel) -> Iterator[Callable[[], None]]:
    """Yield what waits until the kernel has freed the namespaces that were let go of before.

    It frees them in the order of their going (net/core/net_namespace.c: cleanup_net is one ordered work). So a cable's
    one end is watched while the namespace of its other end goes, last of all.
    """
    channel, transport = kernel.channel, NetlinkTransport(kernel.channel)
    watching, going = WITNESSES
    fds = channel.request("make_namespaces", names=list(WITNESSES)).fields["fds"]
    watched = Target(watching, NETLINK_ROUTE)
    cable = rtnl.make_link(
        "here",
        rtnl.FIRST_INDEX,
        bridge_index=0,
        interface="there",
        index=rtnl.FIRST_INDEX,
        mac="02:00:00:00:ff:01",
        namespace_fd=fds[going],
    )
    transport.send([(watched, cable)], keep_going=False)

    def cable_is_there() -> bool:
        (reply,) = transport.send([(watched, rtnl.dump_links())], keep_going=True)
        return rtnl.FIRST_INDEX in rtnl.decode_links(reply.payloads)

    def wait() -> None:
        channel.request("remove_namespaces", names=[going])
        while cable_is_there():
            time.sleep(POLL_S)

    try:
        yield wait
    finally:
        channel.request("remove_namespaces", names=list(WITNESSES))
