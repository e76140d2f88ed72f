"""The text of `lvslab plan --shell` builds the same network as applying the plan, as the kernel's own tools see it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from lvslab.kernels.start import RunningKernel
from lvslab.plan import make_plan
from lvslab.plan.shell import shell_script
from lvslab.plan.steps import WriteSysctl
from lvslab.topology import load_topology
from lvslab.topology.model import Topology
from tests.kernel.state import State, differences, read_state
from tests.kernel.support import OpenLab, run_script

pytestmark = pytest.mark.kernel

REMOVE_ALL = """
for node in $(ls /run/netns); do
    kill $(ip netns pids "$node") 2>/dev/null
    ip netns delete "$node"
done
"""

WEIGHTED = """
name: weighted
networks: {net: 198.18.0.0/24}
nodes:
  client: {role: client, on: {net: 10}}
  director: {role: director, on: {net: 1}}
  rs[1-3]: {role: real-server, on: {net: 11+}}
services:
  - {vip: 198.18.0.100, port: 80, method: dr, scheduler: wrr, weights: [4, 3, 0], servers: rs*}
  - {vip: 198.18.0.101, port: 53, protocol: udp, method: nat, scheduler: wlc, servers: [{node: rs*, port: 5353}]}
"""

IPV6 = """
name: ipv6
networks: {outside: 2001:db8:1::/64, inside: 2001:db8:2::/64}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, inside: 1}}
  director: {role: director, on: {inside: 2}}
  rs1: {role: real-server, on: {inside: 11}}
services:
  - {vip: "2001:db8:2::100", port: 80, method: dr, scheduler: rr, servers: rs*}
"""

KINDS = """
name: kinds
networks: {net: [198.18.0.0/24, 2001:db8:2::/64]}
nodes:
  client: {role: client, on: {net: 10}}
  director: {role: director, on: {net: 1}}
  rs[1-2]: {role: real-server, on: {net: 11+}}
services:
  - vip: 198.18.0.100
    port: 80
    method: dr
    scheduler: sh
    flags: [sh-port, sh-fallback]
    servers: [{node: rs*, upper: 9, lower: 3}]
    persistence: 60
    persistence_prefix: 24
  - {vip: "2001:db8:2::100", port: 80, mark: 7, method: dr, scheduler: mh, flags: [mh-port], servers: rs*}
  - {vip: "2001:db8:2::100", port: 53, protocol: udp, mark: 7, method: dr, scheduler: mh, flags: [mh-port],
     servers: rs*}
  - {vip: "2001:db8:2::101", port: 53, protocol: udp, method: dr, scheduler: rr, servers: rs*, one_packet: true,
     persistence: 60, persistence_prefix: 64}
  - {vip: 198.18.0.102, port: 5060, protocol: sctp, mark: 8, method: dr, scheduler: rr, servers: rs*}
"""

SHAPED = """
name: shaped
networks: {outside: {subnets: 203.0.113.0/24, delay: 20ms}, inside: {subnets: 198.18.0.0/24, rate: 10mbit}}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, inside: 1}, rate: {inside: unlimited}, delay: 0ms}
  director: {role: director, on: {inside: 2}}
  rs[1-2]: {role: real-server, on: {inside: 11+}, rate: 6400kbit, delay: 1s}
services:
  - {vip: 198.18.0.100, port: 80, method: dr, scheduler: rr, servers: rs*}
"""


@pytest.fixture(
    params=[
        *("dr", "dr-arptables", "dr-neighbour", "nat", "rr-dns", "tun", "weighted", "ipv6"),
        *("mark-media", "one-packet", "persistence", "kinds", "shaped", "tun-mtu-clamp", "tun-mtu-pieces", "dr-mtu"),
        *("localnode", "fullnat", "tun-gue", "tun-gre", "tun-mixed", "sctp"),
    ]
)
def topology(request: pytest.FixtureRequest, tmp_path: Path) -> Topology:
    texts = {"weighted": WEIGHTED, "kinds": KINDS, "shaped": SHAPED, "ipv6": IPV6}
    if request.param not in texts:
        return load_topology(request.param)
    path = tmp_path / f"{request.param}.yaml"
    path.write_text(texts[request.param])
    return load_topology(path)


def test_typing_the_commands_gives_what_applying_the_plan_gives(
    kernel: RunningKernel, open_lab_in: OpenLab, topology: Topology
) -> None:
    plan = make_plan(topology)
    with open_lab_in(topology):
        applied = read_state(kernel)
    with typed(kernel, shell_script(plan)) as state:
        assert differences(applied, state) == {}
    assert {title.split()[0] for title in applied} == namespaces(topology)
    settings = [step for step in plan.steps if isinstance(step, WriteSysctl)]
    assert [step for step in settings if setting_line(step) not in applied[f"{step.node} sysctl"]] == []


@dataclass(frozen=True)
class Change:
    """One command of the script typed otherwise, and where the comparison must see it."""

    line: str
    typed: str
    seen: str


CHANGES = (
    Change("ip -n director addr add 198.18.0.10/32", "ip -n director addr add 198.18.0.99/32", "director ip"),
    Change("ip -n client route add default via 203.0.113.1", ":", "client ip"),
    Change("sysctl -q -w net.ipv4.conf.all.arp_ignore=1", "sysctl -q -w net.ipv4.conf.all.arp_ignore=2", "rs1 sysctl"),
    Change("ip netns exec router ethtool -K eth1 tx off", ": ", "router ethtool eth1"),
    Change("-r 198.18.0.11:80 -g -w 1", "-r 198.18.0.11:80 -g -w 2", "director ipvsadm"),
    Change("link set router master br0 up", "link set router up", "sw-outside ip"),
)


def test_the_comparison_sees_every_command_that_was_typed_otherwise(
    kernel: RunningKernel, open_lab_in: OpenLab
) -> None:
    topology = load_topology("dr", params={"real_servers": 1})
    script = shell_script(make_plan(topology))
    for change in CHANGES:
        assert change.line in script
        script = script.replace(change.line, change.typed, 1)
    with open_lab_in(topology):
        applied = read_state(kernel)
    with typed(kernel, script) as state:
        found = differences(applied, state)
    assert found.keys() == {change.seen for change in CHANGES}, found


def setting_line(step: WriteSysctl) -> str:
    """Return what grep prints of a setting that has the plan's value."""
    return f"/proc/sys/{step.key.replace('.', '/')}:{step.value}"


@contextmanager
def typed(kernel: RunningKernel, script: str) -> Iterator[State]:
    """Run the script where the lab was, read what it made, and remove that."""
    try:
        done = run_script(kernel, script)
        assert done.status == 0, done.output
        yield read_state(kernel)
    finally:
        run_script(kernel, REMOVE_ALL)


def namespaces(topology: Topology) -> set[str]:
    return {node.name for node in topology.nodes} | {f"sw-{network.name}" for network in topology.networks}
