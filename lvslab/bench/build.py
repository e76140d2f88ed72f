"""What building and removing a network costs: lvslab's netns backend, `ip -batch`, Mininet, and the least there is.

All of them build the same network (:mod:`lvslab.bench.contestants`) in the same kernel, one after another in each
round. The whole cluster, with sysctls, offloads, IPVS and servers, is built by the backend alone besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from lvslab.bench.contestants import Timing, floor, ip_batch, mininet, network_plan, own, python_with_mininet
from lvslab.bench.pairs import Readings, medians, ratio
from lvslab.bench.result import Benchmark, Chart, Column, Curve, Part, Ratio, Value, medians_of
from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Phase, open_kernel, quiet
from lvslab.plan import make_plan
from lvslab.topology import load_topology
from lvslab.topology.model import Topology

TITLE = "Building a network of N real servers, and removing it"
OWN, BATCH, MININET, FLOOR, WHOLE = "netns", "ip_batch", "mininet", "floor", "whole"
NAMES = {OWN: "lvslab", BATCH: "ip -batch", MININET: "Mininet", FLOOR: "floor", WHOLE: "whole cluster"}
AIMS = {BATCH: 0.5, MININET: 0.15, FLOOR: 2.0}
FLAT = 1.25
"""Cost per node with many servers over that with few, at most."""
FEW = 16
NOT_MEASURED = "–"


@dataclass(frozen=True, slots=True)
class Settings:
    """Mininet is measured with up to `mininet_most` servers, in the first round: it takes long in User-Mode Linux."""

    kernel: str | None = None
    sizes: tuple[int, ...] = (4, 16, 64, 256)
    rounds: int = 3
    mininet_most: int = 4


Found = Mapping[int, Mapping[str, list[Timing]]]
"""By number of servers and contestant: one timing for each round."""


def run(settings: Settings, phase: Phase = quiet) -> Benchmark:
    """Build all sizes in all ways. Raises CannotRun without a kernel, KernelFault if one of them fails."""
    python = python_with_mininet() if settings.mininet_most else None
    with open_kernel(settings.kernel, name="bench") as kernel:
        with phase("boot"):
            kernel.wait_until_up(UP_TIMEOUT_S)
        found = {size: _measure(kernel, size, settings, python, phase) for size in settings.sizes}
    chosen: dict[str, Value] = {
        "sizes": ",".join(map(str, settings.sizes)),
        "rounds": settings.rounds,
        "mininet_most": settings.mininet_most,
    }
    return Benchmark("build", TITLE, (_part(kernel, settings, found),), chosen, tuple(_notes(settings, python)))


def _notes(settings: Settings, python: str | None) -> Iterator[str]:
    if settings.mininet_most and python is None:
        yield "Mininet was left out: it needs mnexec (the Debian package mininet), bridge-utils and net-tools."


def _measure(
    kernel: RunningKernel, size: int, settings: Settings, python: str | None, phase: Phase
) -> dict[str, list[Timing]]:
    with_mininet = python if size <= settings.mininet_most else None
    contestants = _contestants(kernel, load_topology("dr", params={"real_servers": size}), with_mininet)
    found: dict[str, list[Timing]] = {name: [] for name in contestants}
    for number in range(1, settings.rounds + 1):
        for name, build in contestants.items():
            if name == MININET and number > 1:
                continue
            with phase(f"{size} servers, round {number} of {settings.rounds}: {NAMES[name]}"):
                found[name].append(build())
    return found


def _contestants(kernel: RunningKernel, topology: Topology, python: str | None) -> dict[str, Callable[[], Timing]]:
    """Return what is to be timed; `python` is one that has Mininet."""
    network, whole = network_plan(topology), make_plan(topology)
    contestants = {
        OWN: lambda: own(kernel, network),
        BATCH: lambda: ip_batch(kernel, network),
        FLOOR: lambda: floor(kernel, len(topology.nodes)),
        WHOLE: lambda: own(kernel, whole),
    }
    if python is not None:
        contestants[MININET] = lambda: mininet(kernel, topology, python)
    return contestants


def totals(found: Mapping[str, list[Timing]]) -> Readings:
    """Return the seconds for building and removing together."""
    return {name: [timing.total_s for timing in timings] for name, timings in found.items()}


def ratios(found: Found) -> Iterator[Ratio]:
    """Yield each contestant's ratio at the largest size that has one, and how flat the cost per node is."""
    for other, aim in AIMS.items():
        size = max((size for size, of_size in found.items() if other in of_size), default=None)
        if size is not None:
            text = f"build and remove {size} servers: lvslab / {NAMES[other]}"
            yield Ratio(f"netns_over_{other}", text, _own_over(totals(found[size]), other), at_most=aim)
    most = max(found)
    if FEW in found and most > FEW:
        few, many = (medians(totals(found[size]))[OWN] / nodes_of(size) for size in (FEW, most))
        yield Ratio("node_many_over_few", f"cost per node, {most} servers / {FEW}", many / few, at_most=FLAT)


def _own_over(readings: Readings, other: str) -> float:
    """Return the ratio in the rounds that the other was in."""
    rounds = len(readings[other])
    return ratio({OWN: readings[OWN][:rounds], other: readings[other]}, OWN, other)


def nodes_of(servers: int) -> int:
    """Return the nodes of the cluster: client, router and director besides."""
    return servers + 3


def _part(kernel: RunningKernel, settings: Settings, found: Found) -> Part:
    columns = (
        Column("servers", "servers"),
        *(Column(f"{name}_s", f"{NAMES[name]} s", 3) for name in NAMES),
        *(Column(f"netns_over_{name}", f"/ {NAMES[name]}", 2) for name in AIMS),
        Column("node_ms", "ms a node", 1),
    )
    rows = tuple(_row(size, of_size) for size, of_size in found.items())
    shown = [name for name in NAMES if all(name in of_size for of_size in found.values())]
    seconds = {size: medians(totals(of_size)) for size, of_size in found.items()}
    curves = tuple(Curve(NAMES[name], tuple((size, seconds[size][name]) for size in found)) for name in shown)
    found_ratios = tuple(ratios(found))
    return Part(
        "build",
        "Building and removing, seconds",
        kernel=f"{kernel.kind} {kernel.release}",
        virtual_time=False,
        columns=columns,
        rows=rows,
        facts=(
            "lvslab, ip -batch and Mininet build the same namespaces, bridges, cables, addresses and routes; the floor "
            "is unshare(2) and one veth pair for each node. The whole cluster has sysctls, IPVS and servers as well.",
            "Removing ends when the kernel has freed everything. Columns with / are lvslab's time over that one's.",
            f"{medians_of(settings.rounds)}, ratios within a round; Mininet in the first alone.",
        ),
        chart=Chart("Building and removing a network", "real servers", "seconds", curves),
        ratios=found_ratios,
        values={each.key: each.value for each in found_ratios},
        readings={
            f"{name}-{size}-{what}": [getattr(timing, what) for timing in timings]
            for size, of_size in found.items()
            for name, timings in of_size.items()
            for what in ("build_s", "remove_s")
        },
    )


def _row(size: int, found: Mapping[str, list[Timing]]) -> tuple[Value, ...]:
    readings = totals(found)
    best = medians(readings)
    seconds: tuple[Value, ...] = tuple(best.get(name, NOT_MEASURED) for name in NAMES)
    over: tuple[Value, ...] = tuple(_own_over(readings, name) if name in readings else NOT_MEASURED for name in AIMS)
    return (size, *seconds, *over, 1000 * best[OWN] / nodes_of(size))
