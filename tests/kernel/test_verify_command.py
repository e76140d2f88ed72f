"""`lvslab verify` of everything that is shipped, as a user runs it; what it writes is read by other programs."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from lvslab.lab import shipped_topologies
from lvslab.topology import load_topology
from tests.kernel.support import lvslab
from tests.unit.topology.test_shipped import NAMES as SHIPPED

pytestmark = pytest.mark.kernel

UNWRAP_AT = {
    "mark-media": "tunl0",
    "tun": "tunl0",
    "tun-gre": "gre0",
    "tun-gue": "tunl0",
    "tun-ipv6": "ip6tnl1",
    "tun-mixed": "ip6tnl1",
    "tun-mtu": "tunl0",
    "tun-mtu-clamp": "tunl0",
    "tun-mtu-pieces": "tunl0",
}
SILENT = {"sctp": {"rs1:eth1", "rs2:eth1"}}
"""Interfaces that no packet should pass: what a single-homed server has beside the address it is bound to."""
NEEDS_COUNTERS = {"statistics"}
"""Expectations that a stored capture cannot answer; nor can it tell whether a client had a template before."""


@dataclass(frozen=True)
class Written:
    """What one run of `lvslab verify --json --junit --pcap` left behind."""

    status: int
    output: str
    folder: Path

    @property
    def document(self) -> dict[str, Any]:
        parsed = json.loads((self.folder / "results.json").read_text())
        assert isinstance(parsed, dict)
        return parsed

    def result(self, topology: str) -> dict[str, Any]:
        (found,) = [result for result in self.document["results"] if result["topology"] == topology]
        assert isinstance(found, dict)
        return found

    def capture(self, topology: str) -> Path:
        return self.folder / f"capture-{topology}.pcapng"


@pytest.fixture(scope="module")
def written(kernel_kind: str, tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("verify")
    files = ("--json", folder / "results.json", "--junit", folder / "results.xml", "--pcap", folder / "capture.pcapng")
    done = lvslab("verify", "--kernel", kernel_kind, *files)
    return Written(done.returncode, done.stdout + done.stderr, folder)


def test_everything_shipped_passes(written: Written) -> None:
    assert written.status == 0, written.output
    assert tuple(result["topology"] for result in written.document["results"]) == SHIPPED == shipped_topologies()
    verdicts = {
        (result["topology"], expectation["name"]): expectation["verdict"]
        for result in written.document["results"]
        for expectation in result["expectations"]
    }
    assert {key: verdict for key, verdict in verdicts.items() if verdict != "pass"} == {}


@pytest.mark.parametrize(
    ("topology", "expectations"),
    [
        ("dr", {"dr-request", "direct-reply", "arp-owner", "scheduler", "statistics"}),
        ("nat", {"nat-request", "nat-reply", "arp-owner", "scheduler", "statistics"}),
        ("persistence", {"dr-request", "scheduler", "persistence"}),
        ("udp", {"dr-request", "scheduler", "datagrams"}),
        ("one-packet", {"dr-request", "scheduler", "datagrams"}),
        ("sctp", {"association", "nat-request", "nat-reply", "scheduler", "statistics"}),
        ("mark-web", {"persistence tcp/198.18.0.10:80", "persistence tcp/198.18.0.10:443"}),
        ("mark-media", {"persistence tcp/203.0.113.100:554", "persistence udp/203.0.113.100:6970"}),
        ("ftp", {"arp-owner", "ftp"}),
        ("localnode", {"dr-request", "local-delivery", "direct-reply", "scheduler", "statistics"}),
        ("director-client", {"director-client", "answered", "scheduler", "statistics"}),
        ("fullnat", {"nat-request", "nat-reply", "statistics"}),
        ("tun-gre", {"tun-request", "tun-decapsulated", "direct-reply", "statistics"}),
        ("hybrid", {"dns-rotation", "dns-direct", "dns-cache", "nat-request tcp/203.0.113.101:80"}),
        ("rr-dns", {"dns-rotation", "dns-direct", "dns-cache"}),
        ("tun", {"tun-request", "tun-decapsulated", "direct-reply", "scheduler", "statistics"}),
    ],
)
def test_what_is_judged(written: Written, topology: str, expectations: set[str]) -> None:
    judged = {expectation["name"] for expectation in written.result(topology)["expectations"]}
    assert expectations | {"checksums", "capture-complete"} <= judged


def test_the_json_is_what_the_published_schema_says(written: Written) -> None:
    schema = json.loads(lvslab("schema", "verify").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(written.document)
    assert not validator.is_valid(written.document | {"verdict": "good"})


def test_the_junit_file_has_one_case_for_each_expectation(written: Written) -> None:
    root = ET.parse(written.folder / "results.xml").getroot()
    cases = {(case.get("classname"), case.get("name")) for case in root.iter("testcase")}
    assert cases == {
        (result["topology"], expectation["name"])
        for result in written.document["results"]
        for expectation in result["expectations"]
    }
    assert [suite.get("failures") for suite in root.iter("testsuite")] == ["0"] * len(SHIPPED)


@pytest.mark.parametrize("topology", SHIPPED)
def test_tcpdump_and_tshark_read_as_many_packets_as_were_captured(written: Written, topology: str) -> None:
    frames = written.result(topology)["frames"]
    assert frames > 0
    assert len(_lines("tcpdump", "-n", "-r", written.capture(topology))) == frames
    assert len(_tshark(written.capture(topology), "frame.number")) == frames


@pytest.mark.parametrize("topology", SHIPPED)
def test_tshark_names_every_interface_of_every_node(written: Written, topology: str) -> None:
    nodes = load_topology(topology).nodes
    ours = {f"{node.name}:{interface.name}" for node in nodes for interface in node.interfaces}
    ours -= SILENT.get(topology, set())
    seen = set(_tshark(written.capture(topology), "frame.interface_name"))
    device = UNWRAP_AT.get(topology)
    tunnels = {f"{node.name}:{device}" for node in nodes if device and node.name.startswith("rs")}
    assert ours <= seen <= ours | tunnels
    assert bool(seen - ours) == bool(tunnels), "a server that got no packet has nothing to unwrap; the others have"


@pytest.mark.parametrize("topology", SHIPPED)
def test_tshark_finds_no_wrong_checksum(written: Written, topology: str) -> None:
    """Wireshark's own verdicts (1: good, 0: bad), asked for explicitly because it does not check TCP by default.

    What an ICMP error quotes of a packet is cut short, and no checksum can be right there.
    """
    options = [word for protocol in ("ip", "tcp", "udp") for word in ("-o", f"{protocol}.check_checksum:TRUE")]
    options += ["-o", "sctp.checksum:CRC 32c"]
    capture = written.capture(topology)
    lines = _tshark(capture, "ip.checksum.status", "icmp.checksum.status", options=options)
    transport = tuple(f"{protocol}.checksum.status" for protocol in ("tcp", "udp", "sctp"))
    lines += _tshark(capture, *transport, options=[*options, "-Y", "not icmp and not icmpv6"])
    verdicts = Counter(verdict for line in lines for verdict in line.replace("\t", ",").split(",") if verdict)
    assert verdicts["1"] > 0
    assert verdicts["0"] == 0


@pytest.mark.parametrize("topology", SHIPPED)
def test_the_stored_capture_gives_the_same_verdicts(written: Written, topology: str) -> None:
    done = lvslab("verify", "--from", written.capture(topology), "--json", "-")
    assert done.returncode == 0, done.stderr
    (stored,) = json.loads(done.stdout)["results"]
    live = written.result(topology)
    persistent = any(service.persistence_s for service in load_topology(topology).services)
    unknown = NEEDS_COUNTERS | ({"scheduler"} if persistent else set())
    assert stored["frames"] == live["frames"]
    for then, now in zip(live["expectations"], stored["expectations"], strict=True):
        assert now["name"] == then["name"]
        if now["name"].split()[0] in unknown:
            assert now["verdict"] == "skip"
        else:
            assert (now["verdict"], now["frames"]) == (then["verdict"], then["frames"])


def test_the_stored_capture_of_another_topology_is_not_judged(written: Written) -> None:
    done = lvslab("verify", "nat", "--from", written.capture("dr"))
    assert done.returncode == 2
    assert "the capture is of another topology: expected nat, found dr" in done.stderr


def _tshark(capture: Path, *fields: str, options: list[str] | None = None) -> list[str]:
    return _lines("tshark", "-n", "-r", capture, *(options or []), "-T", "fields", *_each("-e", fields))


def _each(option: str, values: tuple[str, ...]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _lines(*argv: str | Path) -> list[str]:
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()
