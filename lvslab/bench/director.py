"""What a packet costs a director by forwarding method, what a node takes in memory, and many servers behind one.

Datagrams go one way, from a client to a server that answers nothing, as fast as one processor carries them; so the
seconds of all are the processor's. The papers: 60 µs a packet on a Pentium of 166 MHz (lvs-primer, section 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import median

from lvslab.bench.contestants import freed
from lvslab.bench.in_kernel import OUTSIDE, run_program
from lvslab.bench.pairs import ratio
from lvslab.bench.result import Benchmark, Column, Part, Ratio, Value, medians_of
from lvslab.errors import KernelFault
from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Phase, open_kernel, quiet, running_lab
from lvslab.topology import load_topology
from lvslab.topology.model import Topology

TITLE = "What a director does for a packet, and what a cluster takes"
METHODS = ("nat", "dr", "tun")
ROUTED = "routed"
PAPERS_US = 60.0
PORT, PLAIN_PORT = 9000, 9001
LEAST_ARRIVED = 0.99
MEMINFO = "/proc/meminfo"


@dataclass(frozen=True, slots=True)
class Settings:
    """So many packets a reading, and servers behind one director."""

    kernel: str | None = None
    packets: int = 20_000
    rounds: int = 5
    servers: int = 256


Readings = Mapping[str, Sequence[float]]
"""By way: seconds for a packet, one for each round."""


def run(settings: Settings, phase: Phase = quiet) -> Benchmark:
    """Measure on one kernel. Raises CannotRun without one, KernelFault if packets or the verdict are lost."""
    with open_kernel(settings.kernel, name="bench") as kernel:
        with phase("boot"):
            kernel.wait_until_up(UP_TIMEOUT_S)
        readings: dict[str, list[float]] = {}
        for number in range(1, settings.rounds + 1):
            for method in METHODS:
                with phase(f"VS/{method.upper()}, round {number} of {settings.rounds}"):
                    for way, seconds in _packet_costs(kernel, method, settings.packets):
                        readings.setdefault(way, []).append(seconds)
        with phase(f"{settings.servers} servers behind one director"):
            cluster = _many_servers(kernel, settings.servers)
    parts = _costs(kernel, readings, settings), _cluster(kernel, cluster)
    chosen: dict[str, Value] = {
        "packets": settings.packets,
        "rounds": settings.rounds,
        "servers": settings.servers,
    }
    return Benchmark("director", TITLE, parts, chosen)


def topology(method: str) -> Topology:
    with resources.as_file(resources.files(__package__) / "topologies" / "director.yaml.j2") as path:
        return load_topology(Path(path), params={"method": method})


def _packet_costs(kernel: RunningKernel, method: str, packets: int) -> Iterator[tuple[str, float]]:
    """Yield the way, and the seconds for a packet on it; the way without IPVS once for all methods."""
    model = topology(method)
    vip, server = str(model.services[0].vip), str(model.node("rs1").own_addresses[0])
    with running_lab(kernel, model):
        with freed(kernel) as wait_until_freed:
            wait_until_freed()
        if method == METHODS[0]:
            yield ROUTED, _seconds(kernel, "rs1", server, PLAIN_PORT, packets)
        yield method, _seconds(kernel, "rs1", vip, PORT, packets)


def _seconds(kernel: RunningKernel, receiver: str, address: str, port: int, packets: int) -> float:
    done = run_program(kernel, "flood", "client", receiver, address, str(port), str(packets))
    if done["received"] < LEAST_ARRIVED * packets:
        raise KernelFault("packets were lost in a benchmark", where=receiver, found=f"{done['received']} of {packets}")
    return float(done["packet_s"])


@dataclass(frozen=True, slots=True)
class Cluster:
    """Many servers behind one director, verified."""

    servers: int
    nodes: int
    node_bytes: float
    checks: int
    frames: int
    seconds: Mapping[str, float]


def _many_servers(kernel: RunningKernel, servers: int) -> Cluster:
    model = load_topology("dr", params={"real_servers": servers})
    before = available_bytes(kernel)
    with running_lab(kernel, model) as lab:
        taken = before - available_bytes(kernel)
        result = lab.verify()
    if result.verdict != "pass":
        raise KernelFault("the verdict is no pass", where=f"dr with {servers} servers", found=str(result.verdict))
    nodes = len(model.nodes)
    return Cluster(servers, nodes, taken / nodes, len(result.expectations), result.frames, result.seconds)


def available_bytes(kernel: RunningKernel) -> int:
    (text,) = kernel.channel.request("read_files", files=[(OUTSIDE, MEMINFO)]).blobs
    line = next(line for line in text.decode().splitlines() if line.startswith("MemAvailable:"))
    return int(line.split()[1]) * 1024


def _costs(kernel: RunningKernel, readings: Readings, settings: Settings) -> Part:
    microseconds = {way: 1e6 * median(values) for way, values in readings.items()}
    names = {ROUTED: "routed by the director, without IPVS"}
    rows = tuple(
        (names.get(way, f"VS/{way.upper()}"), microseconds[way], ratio(readings, way, ROUTED))
        for way in (ROUTED, *METHODS)
    )
    ratios = tuple(
        Ratio(f"{method}_over_routed", f"a packet's way: VS/{method.upper()} / plain routing", row[-1])
        for method, row in zip(METHODS, rows[1:], strict=True)
    )
    slowest = max(microseconds[method] for method in METHODS)
    return Part(
        "packets",
        "A packet from client to server, by way of the director",
        kernel=f"{kernel.kind} {kernel.release}",
        virtual_time=False,
        columns=(Column("way", "way"), Column("packet_us", "µs a packet", 1), Column("over_routed", "/ routed", 2)),
        rows=rows,
        facts=(
            "The whole way is counted, sender, two cables, two switches and receiver included; what goes beyond plain "
            "routing is IPVS's.",
            f"The papers: {PAPERS_US:g} µs in the director alone, on a Pentium of 166 MHz; here all together take "
            f"{slowest:.0f} µs at most, {PAPERS_US / slowest:.1f} times as fast, in a kernel of one processor.",
            f"{medians_of(settings.rounds)} of {settings.packets:,} packets; of a round, what one in ten of its "
            "bursts undercut, so that other work of the machine has little part in it.",
        ),
        ratios=ratios,
        values={f"{way}_us": value for way, value in microseconds.items()},
        readings=readings,
    )


def _cluster(kernel: RunningKernel, cluster: Cluster) -> Part:
    build_s, whole_s = cluster.seconds.get("build", 0.0), sum(cluster.seconds.values())
    return Part(
        "cluster",
        f"{cluster.servers} servers behind one director (VS/DR), built and verified",
        kernel=f"{kernel.kind} {kernel.release}",
        virtual_time=False,
        columns=(
            Column("servers", "servers"),
            Column("nodes", "nodes"),
            Column("node_kb", "kB a node", 0),
            Column("checks", "checks passed"),
            Column("frames", "frames"),
            Column("verify_s", "verify s", 1),
        ),
        rows=((cluster.servers, cluster.nodes, cluster.node_bytes / 1000, cluster.checks, cluster.frames, whole_s),),
        facts=(
            "Memory of the kernel and its agent, without captures; traffic, capture, joining and judging are timed.",
        ),
        values={"node_bytes": cluster.node_bytes, "build_s": build_s, "verify_s": whole_s},
    )
