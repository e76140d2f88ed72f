"""Throughput of a cluster by forwarding method and number of servers, with the cards of the cluster shaped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import median

from lvslab.errors import KernelFault
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, Phase, running_lab
from lvslab.topology import load_topology
from lvslab.topology.model import Topology

METHODS = ("nat", "dr", "tun")
FIRST_PORT = 8000
"""Service 8000 + n has n servers, 8000 itself all."""
LINKS_UP_S = 3.0
"""A card sends once its cable is known to be up; the kernel looks after 100 cables a second (net/core/link_watch.c)."""
USUAL_BUFFERS, SMALL_BUFFERS = "4096 131072 6291456", "4096 16384 16384"
"""What a client's connection may have under way: least, usual and most bytes, `net.ipv4.tcp_rmem` (tcp(7)).

With small ones, as clients had them when the papers were written, a full card holds packets back and drops few, so that
what arrives is steady. In real time, with timers less exact, such small windows would run empty.
"""

Readings = Mapping[tuple[str, int], tuple[float, ...]]
"""By method and number of servers: bits per second of answers, one for each round."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """What to measure. Each server gets one connection, which lasts as long as the measurement."""

    sizes: tuple[int, ...]
    director_rate: str
    server_rate: str
    seconds: float
    """Counted, after `warm_up_s` in which the connections come up to speed."""
    warm_up_s: float
    rounds: int = 1
    client_buffers: str = USUAL_BUFFERS


def measure(kernel: RunningKernel, sweep: Sweep, phase: Phase) -> Readings:
    """Measure each method with each number of servers, all of them once per round. Raises KernelFault.

    A round follows the other, so that what else the machine does in one of them harms all methods alike.
    """
    readings: dict[tuple[str, int], tuple[float, ...]] = {}
    for number in range(1, sweep.rounds + 1):
        of_rounds = f", round {number} of {sweep.rounds}" if sweep.rounds > 1 else ""
        for method in METHODS:
            with phase(f"VS/{method.upper()}{of_rounds}"), running_lab(kernel, topology(method, sweep)) as lab:
                _introduce(lab, max(sweep.sizes))
                for size in sweep.sizes:
                    with phase("1 server" if size == 1 else f"{size} servers"):
                        readings[method, size] = (*readings.get((method, size), ()), _throughput(lab, size, sweep))
    return readings


def topology(method: str, sweep: Sweep) -> Topology:
    """Return the cluster: service 8000 + n has the first n servers."""
    with resources.as_file(resources.files(__package__) / "topologies" / f"throughput-{method}.yaml.j2") as path:
        return load_topology(
            Path(path),
            params={
                "sizes": ",".join(map(str, sweep.sizes)),
                "director_rate": sweep.director_rate,
                "server_rate": sweep.server_rate,
                "client_buffers": sweep.client_buffers,
            },
        )


def _introduce(lab: Lab, servers: int) -> None:
    """Have each server called once: neighbours that all asked for each other at once would lose much.

    By a service of its own, so that the director remembers none of the ports that the load will come from.
    """
    lab.sleep(LINKS_UP_S)
    lab.node("client").get(str(lab.topology.services[0].vip), FIRST_PORT, times=servers)


def _throughput(lab: Lab, size: int, sweep: Sweep) -> float:
    result = lab.node("client").load(
        str(lab.topology.services[0].vip),
        FIRST_PORT + size,
        connections=size,
        seconds=sweep.warm_up_s + sweep.seconds,
        warm_up_s=sweep.warm_up_s,
    )
    if result.failures or not result.bytes:
        found = ", ".join(f"{count} {name}" for name, count in result.failures.items()) or "nothing at all"
        raise KernelFault("connections failed under load", where=lab.topology.name, found=found)
    return result.bit_s


def medians(readings: Readings) -> dict[tuple[str, int], float]:
    return {key: median(values) for key, values in readings.items()}
