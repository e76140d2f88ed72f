"""What `lvslab export mininet` writes runs on plain Mininet, with a Python that has no lvslab, and serves.

curl and ipvsadm, typed at Mininet's prompt, are the witnesses. LVSLAB_LONG=1 runs every shipped topology's script.
"""

from __future__ import annotations

import os
import re

import pytest

from lvslab.exporting.mininet import mininet_script
from lvslab.kernels.start import RunningKernel
from lvslab.lab import shipped_topologies
from lvslab.mininet.install import SYSTEM_PYTHON
from lvslab.topology import load_topology
from lvslab.topology.model import Protocol, Topology, VirtualService
from tests.kernel.support import run_outside

pytestmark = pytest.mark.kernel

SPREAD = ("dr-ipv6", "nat", "tun")
WITHOUT_OWN_SERVER = {"ftp"}
"""Of these the script only says which server is wanted."""
LONG = bool(os.environ.get("LVSLAB_LONG"))
TOPOLOGIES = sorted({*shipped_topologies()} - WITHOUT_OWN_SERVER) if LONG else SPREAD
CALLS = 4
CONNECTIONS = re.compile(r"^(?:TCP|UDP|SCTP|FWM)\s+\S+(?:\s+IPv6)?\s+(\d+)", re.MULTILINE)
"""The column Conns of `ipvsadm -Ln --stats`."""


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_the_script_serves_on_plain_mininet(kernel: RunningKernel, name: str) -> None:
    topology = load_topology(name)
    said = run_exported(kernel, topology)
    if topology.name_services:
        assert {server for server, _ in topology.name_services[0].records} <= answered(topology, said)
        return
    service = topology.services[0]
    assert {each.node for each in service.destinations} == answered(topology, said), said
    assert int(CONNECTIONS.findall(said)[0]) == CALLS, said


def test_a_command_that_fails_ends_the_script_and_is_told(kernel: RunningKernel) -> None:
    topology = load_topology("nat")
    script = mininet_script(topology).replace("ipvsadm -A -t", "ipvsadm -A -T", 1)
    said = run_text(kernel, script, "")
    assert "director: " in said
    assert "-T" in said
    assert run_outside(kernel, "ls", "/sys/class/net").output.split().count("s1") == 0


def test_the_python_that_runs_it_has_no_lvslab(kernel: RunningKernel) -> None:
    done = run_outside(kernel, SYSTEM_PYTHON, "-c", "import lvslab")
    assert "No module named 'lvslab'" in done.output


def run_exported(kernel: RunningKernel, topology: Topology) -> str:
    client = next((node.name for node in topology.nodes if node.role == "client"), topology.nodes[0].name)
    asked = [f"{client} {question(topology)}"] * CALLS
    # IPVS shows its counters as they were up to two seconds ago (net/netfilter/ipvs/ip_vs_est.c).
    looked = ["sh sleep 3", f"{topology.services[0].director} ipvsadm -Ln --stats"] if topology.services else []
    return run_text(kernel, mininet_script(topology), "\n".join([*asked, *looked, ""]))


def run_text(kernel: RunningKernel, script: str, typed: str) -> str:
    """Run a script as its user does, and type at its prompt; return all that is printed."""
    path = kernel.folder.share / "exported.py"
    path.write_text(script)
    commands = kernel.folder.share / "typed"
    commands.write_text(typed)
    try:
        return run_outside(
            kernel, "sh", "-c", f"cd /; ulimit -n 1024; cat {commands} | {SYSTEM_PYTHON} {path}", timeout_s=300
        ).output
    finally:
        path.unlink()
        commands.unlink()


def question(topology: Topology) -> str:
    if topology.name_services:
        name, port = topology.name_services[0].name, topology.name_services[0].port
        resolver = topology.name_services[0].resolver or topology.name_services[0].server
        server = topology.node(resolver).own_addresses[0]
        return f"curl -s -m 20 http://$(dig +short {name} @{server} | head -n 1):{port}/"
    service = topology.services[0]
    if service.protocol is Protocol.TCP:
        return f"curl -s -m 20 http://{authority(service)}/"
    if service.protocol is Protocol.UDP:
        return f"sh -c 'echo hello | socat -t 5 - UDP:{authority(service)}'"
    return f"sh -c 'echo hello | socat -t 5 - SCTP:{authority(service)}'"


def authority(service: VirtualService) -> str:
    return f"[{service.vip}]:{service.port}" if service.vip.version == 6 else f"{service.vip}:{service.port}"


def answered(topology: Topology, said: str) -> set[str]:
    """Return the nodes that said who they are: an answer begins with a line of its own."""
    lines = {line.replace("mininet> ", "").strip() for line in said.splitlines()}
    return {node.name for node in topology.nodes if node.name in lines}
