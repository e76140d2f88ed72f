"""What both backends promise: of one topology the same network, as the kernel's own tools see it, and one verdict.

A spread of the shipped topologies, every one of them with LVSLAB_LONG=1.
"""

from __future__ import annotations

import os

import pytest

from lvslab.errors import KernelFault
from lvslab.kernels.start import RunningKernel
from lvslab.lab import running_lab, shipped_topologies
from lvslab.plan import make_plan
from lvslab.plan.steps import MakeLink, SetMtu
from lvslab.sandbox.backends import MININET, MININET_OVS, NETNS
from lvslab.topology import load_topology
from lvslab.topology.switches import BRIDGE
from lvslab.verify.result import TopologyResult, Verdict
from tests.kernel.state import differences, read_state
from tests.kernel.support import run_outside

pytestmark = pytest.mark.kernel

SPREAD = ("dr-ipv6", "fullnat", "localnode", "nat", "rr-dns", "tun-mtu")
"""Every forwarding method, IPv6, tunnels, several networks, other MTUs, a name server."""
OVS_DATABASE = "/run/lvslab/ovs-sw-inside/db.sock"
TOPOLOGIES = shipped_topologies() if os.environ.get("LVSLAB_LONG") else SPREAD


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_a_topology_is_the_same_network_on_both(kernel: RunningKernel, name: str) -> None:
    topology = load_topology(name)
    networks, results = [], []
    for backend in (NETNS, MININET):
        with running_lab(kernel, topology, backend=backend) as lab:
            networks.append(read_state(kernel))
            results.append(lab.verify())
    assert differences(*networks) == {}
    assert [result.backend for result in results] == [NETNS, MININET]
    assert verdicts(results[0]) == verdicts(results[1])
    assert results[0].verdict is Verdict.PASS


@pytest.mark.parametrize(("name", "without"), [("dr", "arp_ignore"), ("nat", "ip_forward@director")])
def test_a_fault_fails_where_it_does_on_the_other(kernel: RunningKernel, name: str, without: str) -> None:
    topology = load_topology(name, without=[without])
    results = []
    for backend in (NETNS, MININET):
        with running_lab(kernel, topology, backend=backend) as lab:
            results.append(lab.verify())
    assert results[0].verdict is Verdict.FAIL
    assert verdicts(results[0]) == verdicts(results[1])


def test_nothing_of_a_network_is_left_when_it_is_taken_down(kernel: RunningKernel) -> None:
    before = processes(kernel)
    with running_lab(kernel, load_topology("nat"), backend=MININET):
        assert "mininet:director" in processes(kernel)
    assert processes(kernel) == before
    assert run_outside(kernel, "ls", "/run/netns").output == ""


def test_a_plan_that_fails_leaves_nothing(kernel: RunningKernel) -> None:
    topology = load_topology("dr")
    before = processes(kernel)
    further = [SetMtu("rs1", "eth7", 1400)]
    with (
        pytest.raises(KernelFault, match="the kernel refused a step of the plan"),
        running_lab(kernel, topology, backend=MININET, further=further),
    ):
        pytest.fail("it was built")
    assert processes(kernel) == before


def test_what_mininet_says_is_in_the_error(kernel: RunningKernel) -> None:
    topology = load_topology("dr")
    cables = [step for step in make_plan(topology).steps if isinstance(step, MakeLink)]
    with (
        pytest.raises(KernelFault, match="File exists"),
        running_lab(kernel, topology, backend=MININET, further=cables[:1]),
    ):
        pytest.fail("it was built")


def test_open_vswitch_carries_the_same_traffic(kernel: RunningKernel) -> None:
    """Debian's User-Mode Linux has its module; where the kernel has not, nobody is told that it worked."""
    before = processes(kernel)
    topology = load_topology("nat")
    try:
        with running_lab(kernel, topology, backend=MININET_OVS) as lab:
            shown = run_outside(kernel, "ovs-vsctl", f"--db=unix:{OVS_DATABASE}", "list-ports", BRIDGE).output
            ports = {node.name for node in topology.nodes if any(each.network == "inside" for each in node.interfaces)}
            assert set(shown.split()) == ports
            assert lab.verify().verdict is Verdict.PASS
    except KernelFault as error:
        assert BRIDGE in str(error)
        assert run_outside(kernel, "modprobe", "-q", "openvswitch").status != 0
    assert processes(kernel) == before


def verdicts(result: TopologyResult) -> dict[str, Verdict]:
    return {expectation.name: expectation.verdict for expectation in result.expectations}


def processes(kernel: RunningKernel) -> str:
    """Return what runs in the kernel beside the kernel's own threads and the question itself."""
    listed = run_outside(kernel, "ps", "-N", "--ppid", "2", "-o", "args=").output.splitlines()
    return "\n".join(sorted(line for line in listed if not line.startswith("ps ") and line != "[kthreadd]"))
