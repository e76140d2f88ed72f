"""Other programs looking at the same network say the same: tcpdump, ip, curl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from scapy.utils import RawPcapReader

from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, LabNode
from lvslab.plan import make_plan, steps
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize(
    ("topology", "node", "interface"),
    [("dr", "director", "eth0"), ("nat", "director", "eth1"), ("tun", "director", "eth0"), ("tun", "rs1", "tunl0")],
)
def test_tcpdump_sees_the_frames_we_record(
    kernel: RunningKernel, open_lab_in: OpenLab, topology: str, node: str, interface: str
) -> None:
    file = kernel.folder.share / f"{topology}-{node}.pcap"
    with open_lab_in(topology) as lab, tcpdump(lab.node(node), interface, file), lab.record() as recording:
        lab.drive()
    theirs = read_pcap(file)
    ours = [
        (frame.data, frame.wire_bytes) for frame in recording.finished().frames if frame.where == f"{node}:{interface}"
    ]
    assert until_the_last_call(theirs) == until_the_last_call(ours)


@pytest.mark.parametrize("topology", ["dr", "nat", "rr-dns", "tun"])
def test_ip_reports_what_the_plan_says(open_lab_in: OpenLab, topology: str) -> None:
    with open_lab_in(topology) as lab:
        plan = make_plan(lab.topology)
        for name, node in lab.nodes.items():
            links = ip(lab, name, "addr")
            assert {
                (link["ifname"], f"{address['local']}/{address['prefixlen']}")
                for link in links
                for address in link["addr_info"]
                if address["local"] != "127.0.0.1"
            } == {
                (step.device, str(step.address))
                for step in plan.steps
                if isinstance(step, steps.AddAddress) and step.node == name
            }
            macs = {interface.name: interface.mac for interface in node.node.interfaces}
            assert {link["ifname"]: link["address"] for link in links if link["ifname"].startswith("eth")} == macs
            up = {step.device for step in plan.steps if isinstance(step, steps.SetUp) and step.node == name}
            assert {link["ifname"] for link in links if "UP" in link["flags"]} == up
            gateways = {(route["dst"], route["gateway"]) for route in ip(lab, name, "route") if "gateway" in route}
            assert gateways == {
                ("default" if step.route.to is None else str(step.route.to), str(step.route.via))
                for step in plan.steps
                if isinstance(step, steps.AddRoute) and step.node == name
            }


@pytest.mark.parametrize(
    ("topology", "vip"), [("dr", "198.18.0.10"), ("nat", "203.0.113.100"), ("tun", "203.0.113.100")]
)
def test_curl_is_answered_through_the_vip_by_each_server_in_turn(open_lab_in: OpenLab, topology: str, vip: str) -> None:
    with open_lab_in(topology) as lab:
        said = [lab.node("client").run("curl", "-s", "--max-time", "20", f"http://{vip}/") for _ in range(4)]
        assert [answer.status for answer in said] == [0, 0, 0, 0]
        assert [answer.output.split()[0] for answer in said] == ["rs2", "rs1", "rs2", "rs1"]


def ip(lab: Lab, node: str, what: str) -> list[dict[str, Any]]:
    found = json.loads(lab.node(node).run("ip", "-j", what).output)
    assert isinstance(found, list)
    return found


@contextmanager
def tcpdump(node: LabNode, interface: str, file: Path) -> Iterator[None]:
    """Run tcpdump on an interface while the body runs.

    Its ring has slots of the snapshot length: at the default 256 KiB only a handful fit.
    """
    words = f"tcpdump -n -U --immediate-mode -s 2048 -B 8192 -Z root -i {interface} -w {file}"
    wait = f"until grep -q 'listening on' {file}.log; do sleep 0.05; done"
    started = node.run("sh", "-c", f"{words} >{file}.log 2>&1 & echo $!; {wait}")
    pid = int(started.output)
    try:
        yield
    finally:
        said = node.run("sh", "-c", f"kill -INT {pid}; while [ -d /proc/{pid} ]; do sleep 0.05; done; cat {file}.log")
    assert "\n0 packets dropped by kernel" in said.output


def read_pcap(file: Path) -> list[tuple[bytes, int]]:
    """Return data and length on the wire of each frame, as scapy reads the file."""
    with RawPcapReader(str(file)) as reader:
        return [(data, meta.wirelen) for data, meta in reader]


def until_the_last_call(frames: list[tuple[bytes, int]]) -> list[tuple[bytes, int]]:
    """Leave out what follows the last HTTP frame: one witness stops before the other, and may miss an ARP probe."""
    last = max(number for number, (data, _) in enumerate(frames) if b"HTTP" in data)
    return frames[: last + 1]
