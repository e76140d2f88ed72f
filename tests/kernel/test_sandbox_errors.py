"""A step that the kernel refuses is named, with its node and the errno in words, and nothing of the lab stays.

The topologies are built in code: a file like these would not pass the loader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address, ip_interface, ip_network

import pytest

from lvslab.errors import KernelFault
from lvslab.kernels.start import RunningKernel
from lvslab.topology import load_topology
from lvslab.topology.model import Node, Route, Topology
from tests.kernel.support import OpenLab, run_outside

pytestmark = pytest.mark.kernel

Fault = Callable[[Topology], Topology]


def of_node(name: str, change: Callable[[Node], Node]) -> Fault:
    """Return what changes one node of a topology."""
    return lambda topology: replace(
        topology, nodes=tuple(change(node) if node.name == name else node for node in topology.nodes)
    )


def route_by_a_gateway_out_of_reach(node: Node) -> Node:
    return replace(node, routes=(Route(ip_network("192.0.2.0/24"), ip_address("10.9.9.9")),))


def address_twice(node: Node) -> Node:
    return replace(node, addresses=(("eth0", ip_interface("198.18.0.11/23")),))


def address_on_a_device_that_is_not_there(node: Node) -> Node:
    return replace(node, addresses=(("eth7", ip_interface("198.18.1.11/23")),))


def setting_the_kernel_does_not_have(node: Node) -> Node:
    return replace(node, sysctls=(("net.ipv4.conf.all.arp_ignorance", "1"),))


def value_the_kernel_does_not_take(node: Node) -> Node:
    return replace(node, sysctls=(("net.ipv4.conf.all.arp_ignore", "often"),))


def value_the_kernel_makes_another_of(node: Node) -> Node:
    return replace(node, sysctls=(("net.ipv4.ip_default_ttl", "0100"),))


def service_twice(topology: Topology) -> Topology:
    return replace(topology, services=topology.services * 2)


CASES = {
    "gateway out of reach": (
        of_node("rs1", route_by_a_gateway_out_of_reach),
        ("rs1: add a route to 192.0.2.0/24 via 10.9.9.9", "ENETUNREACH Network is unreachable", "no address of"),
    ),
    "address twice": (
        of_node("rs1", address_twice),
        ("rs1: add address 198.18.0.11/23 to eth0", "EEXIST File exists", "it is there already"),
    ),
    "no such device": (
        of_node("rs1", address_on_a_device_that_is_not_there),
        ("rs1: add address 198.18.1.11/23 to eth7", "ENODEV No such device", "there is no such device"),
    ),
    "no such setting": (
        of_node("rs2", setting_the_kernel_does_not_have),
        ("rs2: set net.ipv4.conf.all.arp_ignorance = 1", "ENOENT No such file", "this kernel lacks the setting"),
    ),
    "no such value": (
        of_node("rs2", value_the_kernel_does_not_take),
        ("rs2: set net.ipv4.conf.all.arp_ignore = often", "EINVAL Invalid argument"),
    ),
    "value read back differs": (
        of_node("rs2", value_the_kernel_makes_another_of),
        ("rs2: set net.ipv4.ip_default_ttl = 0100", "the kernel says 64 afterwards"),
    ),
    "service twice": (
        service_twice,
        ("director: IPVS would not add service TCP 198.18.0.10:80", "EEXIST (File exists)", "exists already"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_refused_step_is_named_and_nothing_is_left(kernel: RunningKernel, open_lab_in: OpenLab, name: str) -> None:
    fault, words = CASES[name]
    with pytest.raises(KernelFault) as raised, open_lab_in(fault(load_topology("dr"))):
        pass
    message = str(raised.value)
    assert [word for word in words if word not in message] == [], message
    assert "\n" not in message
    assert run_outside(kernel, "ls", "/run/netns").output == ""


def test_the_same_lab_without_the_fault_is_built_afterwards(kernel: RunningKernel, open_lab_in: OpenLab) -> None:
    with pytest.raises(KernelFault), open_lab_in(service_twice(load_topology("dr"))):
        pass
    with open_lab_in("dr") as lab:
        assert all(outcome.ok for outcome in lab.drive())
    assert run_outside(kernel, "ls", "/run/netns").output == ""
