"""What is exported makes the same cluster: each file is read as its engine reads it, and each script is run in a node.

There is no container engine here. What one does to the wiring is done by hand (:class:`Engine`), with what engines
and hosts leave behind: addresses, routes, forwarding and filters of their own. The witness is the state of lvslab's
own network, as `ip`, `sysctl`, `ethtool`, `tc` and `ipvsadm` show it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from Kathara.parser.netkit.LabParser import LabParser
from ruamel.yaml import YAML

from lvslab.exporting.compose import compose_files
from lvslab.exporting.containerlab import containerlab_files
from lvslab.exporting.files import write_files
from lvslab.exporting.kathara import kathara_files
from lvslab.kernels.start import RunningKernel
from lvslab.topology import load_text, load_topology
from lvslab.topology.model import Topology
from tests.kernel.state import SWITCH, State, differences, read_state
from tests.kernel.support import lab_in, run_script
from tests.kernel.test_plan_shell import REMOVE_ALL

pytestmark = pytest.mark.kernel

BRIDGES = "engine"
"""A namespace of the engine's own, with a bridge for each of its networks."""

MEDDLE = """
meddle() {{
    ip -n $1 link set $2 up mtu {mtu}
    ip -n $1 addr add 172.31.0.$3/16 dev $2
    ip -n $1 route replace default via 172.31.0.254
    ip netns exec $1 sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.disable_ipv6={ipv6_off} \\
        net.ipv6.conf.all.forwarding=1 \\
        net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.default.rp_filter=1 net.ipv4.conf.$2.rp_filter=1 \\
        net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.default.arp_ignore=1 net.ipv4.conf.$2.arp_ignore=1
}}
"""


@dataclass(frozen=True)
class Attachment:
    """A node's interface: on a network of the engine's, or at the other end of a cable to another node."""

    node: str
    interface: str
    network: str = ""
    peer: tuple[str, str] | None = None


@dataclass(frozen=True)
class Engine:
    """What an engine makes of a folder: the nodes with the script each runs, and how they are attached."""

    scripts: Mapping[str, Path]
    attachments: Sequence[Attachment]
    mtu: int = 1500
    ipv6_off: int = 1

    def wire(self, *, macvlan: bool = False) -> Iterator[str]:
        """Yield the shell lines that make the containers' network."""
        yield "set -e" + MEDDLE.format(mtu=self.mtu, ipv6_off=self.ipv6_off)
        yield from (f"ip netns add {node}" for node in self.scripts)
        networks = dict.fromkeys(each.network for each in self.attachments if each.network)
        if networks:
            yield f"ip netns add {BRIDGES}"
        for network in networks:
            kind = "dummy" if macvlan else "bridge forward_delay 0 stp_state 0 mcast_snooping 0"
            yield f"ip -n {BRIDGES} link add {network} up type {kind}"
        for number, each in enumerate(self.attachments, 1):
            if each.peer is not None:
                far, port = each.peer
                yield f"ip -n {each.node} link add {each.interface} type veth peer name {port} netns {far}"
            elif macvlan:
                end = f"link add x{number} link {each.network} type macvlan mode bridge"
                yield f"ip -n {BRIDGES} {end}"
                yield f"ip -n {BRIDGES} link set x{number} netns {each.node} name {each.interface}"
            else:
                end = f"link add x{number} master {each.network} up"
                yield f"ip -n {BRIDGES} {end} type veth peer name {each.interface} netns {each.node}"
            yield f"meddle {each.node} {each.interface} {number}"

    def run_scripts(self) -> Iterator[str]:
        yield f"export PATH={Path(sys.executable).parent}:$PATH"
        yield from (f"ip netns exec {node} sh {script}" for node, script in self.scripts.items())


def as_containerlab(folder: Path, topology: Topology) -> Engine:
    write_files(folder, containerlab_files(topology, "lvslab"))
    definition = yaml(folder / f"{topology.name}.clab.yml")["topology"]
    cables = [[end.split(":") for end in link["endpoints"]] for link in definition["links"]]
    return Engine(
        {name: folder / node["binds"][0].split(":")[0] for name, node in definition["nodes"].items()},
        [Attachment(node, interface, peer=(far, port)) for (node, interface), (far, port) in cables],
        mtu=9500,
        ipv6_off=0,
    )


def as_kathara(folder: Path, topology: Topology) -> Engine:
    write_files(folder, kathara_files(topology, "lvslab"))
    machines = LabParser.parse(str(folder)).machines.values()
    return Engine(
        {machine.name: folder / f"{machine.name}.startup" for machine in machines},
        [
            Attachment(machine.name, f"eth{number}", interface.link.name)
            for machine in machines
            for number, interface in machine.interfaces.items()
        ],
    )


def as_compose(folder: Path, topology: Topology) -> Engine:
    write_files(folder, compose_files(topology, "lvslab"))
    services = yaml(folder / "compose.yaml")["services"]
    return Engine(
        {name: folder / service["volumes"][0].split(":")[0] for name, service in services.items()},
        [
            Attachment(name, settings["interface_name"], network)
            for name, service in services.items()
            for network, settings in service["networks"].items()
        ],
    )


def yaml(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text())


Read = Callable[[Path, Topology], Engine]
ENGINES: Sequence[Read] = (as_containerlab, as_kathara)
"""Compose has Kathará's scripts, and its wiring is used below."""

CLUSTER = """
name: cluster
networks:
  outside: [203.0.113.0/24, "2001:db8:1::/64"]
  inside: {subnets: [198.18.0.0/24, "2001:db8:2::/64"], mtu: 1400}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, inside: 1}, clamp_mss: 1200}
  director: {role: director, on: {inside: 2}, drop: icmp}
  rs1: {role: real-server, on: {inside: 11}, sysctls: {net.ipv4.conf.eth0.rp_filter: 2}}
services:
  - {vip: 198.18.0.100, port: 80, method: dr, scheduler: rr, servers: rs1, arp_cure: arptables}
  - {vip: "2001:db8:2::100", port: 80, mark: 7, method: dr, scheduler: sh, flags: [sh-port], servers: rs1}
  - {vip: 198.18.0.101, port: 80, method: tun, scheduler: wrr, servers: rs1, tunnel_ip: 6}
"""
"""Something of every tool that a script may call."""


@contextmanager
def exported(kernel: RunningKernel, read: Read, topology: Topology, *, macvlan: bool = False) -> Iterator[None]:
    """Have an engine's stand-in make the network, run each node's script, and remove all in the end."""
    engine = read(kernel.folder.share / f"{read.__name__}-{topology.name}", topology)
    lines = [*engine.wire(macvlan=macvlan), *engine.run_scripts()]
    try:
        done = run_script(kernel, "\n".join(lines))
        assert done.status == 0, done.output
        yield
    finally:
        run_script(kernel, REMOVE_ALL)


def of_nodes(state: State, names: Sequence[str]) -> State:
    """Keep what is said of some nodes; their interfaces may have been made in any order."""
    kept = {title: items for title, items in state.items() if title.split()[0] in names}
    return {title: sorted(items) if title.endswith((" ip", " tc")) else items for title, items in kept.items()}


@pytest.fixture(scope="module")
def cluster() -> Topology:
    return load_text(CLUSTER, "cluster.yaml")


@pytest.fixture(scope="module")
def applied(kernel: RunningKernel, cluster: Topology) -> State:
    """What lvslab's own network is to the kernel's tools."""
    with lab_in(kernel, cluster):
        return read_state(kernel)


@pytest.mark.parametrize("read", ENGINES)
def test_the_scripts_make_what_lvslab_makes(
    kernel: RunningKernel, cluster: Topology, applied: State, read: Read
) -> None:
    names = [node.name for node in cluster.nodes]
    if read is as_containerlab:
        names += [f"{SWITCH}{network.name}" for network in cluster.networks]
    with exported(kernel, read, cluster):
        made = read_state(kernel)
    assert set(names) <= {title.split()[0] for title in made}
    assert differences(of_nodes(applied, names), of_nodes(made, names)) == {}


ASK = """
for server in rs1 rs2; do
    while ! ip netns exec $server ss -Hltn | grep -q ":80 "; do sleep 0.1; done
done
for time in 1 2 3 4; do ip netns exec client curl -s --max-time 20 http://198.18.0.10/ | head -n 1; done
ip netns exec director ipvsadm -Lnc | awk '/:80/ { print $NF }' | sort
"""


def test_the_cluster_of_a_compose_file_answers(kernel: RunningKernel) -> None:
    """The network is of Docker's kind: macvlan on a dummy."""
    with exported(kernel, as_compose, load_topology("dr"), macvlan=True):
        done = run_script(kernel, ASK)
    answered = ["rs2", "rs1", "rs2", "rs1"]
    passed = [f"198.18.0.1{server}:80" for server in (1, 1, 2, 2)]
    assert done.output.split() == answered + passed
