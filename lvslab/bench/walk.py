"""How fast frames are joined into walks, and in how much memory, up to a million of them.

On this machine's own Python: joining needs no kernel. The capture is held whole, and so are its walks: memory grows
with the frames, and what each takes is said.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from lvslab.bench.result import Benchmark, Chart, Column, Curve, Part, Ratio
from lvslab.errors import KernelFault
from lvslab.lab import Phase, quiet

TITLE = "Joining frames into walks"
LINEAR = 1.25
"""Time for each frame of the longest capture over that of the shortest, at most."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Captures of so many frames, each joined `rounds` times, the longest once."""

    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    rounds: int = 3


def run(settings: Settings, phase: Phase = quiet) -> Benchmark:
    """Join captures of each size. Raises KernelFault if one is joined wrongly."""
    longest = max(settings.sizes)
    found: dict[int, list[Mapping[str, Any]]] = {size: [] for size in settings.sizes}
    for number in range(1, settings.rounds + 1):
        for size in settings.sizes:
            if size != longest or number == 1:
                with phase(f"{size:,} frames, round {number} of {settings.rounds}"):
                    found[size].append(_joined(size))
    part = _part(found)
    return Benchmark("walk", TITLE, (part,), {"sizes": ",".join(map(str, settings.sizes)), "rounds": settings.rounds})


def _joined(frames: int) -> Mapping[str, Any]:
    argv = [sys.executable, "-m", "lvslab.bench.joining", str(frames)]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode:
        raise KernelFault("joining failed in a benchmark", found=done.stderr.strip().rpartition("\n")[2])
    return dict(json.loads(done.stdout))


def _part(found: Mapping[int, list[Mapping[str, Any]]]) -> Part:
    seconds = {size: median(each["seconds"] / each["frames"] for each in runs) for size, runs in found.items()}
    memory = {size: median(each["most_bytes"] / each["frames"] for each in runs) for size, runs in found.items()}
    fewest, most = min(found), max(found)
    linear = Ratio(
        "frame_many_over_few",
        f"time to join a frame, of {most:,} / of {fewest:,}",
        seconds[most] / seconds[fewest],
        at_most=LINEAR,
    )
    rows = tuple(
        (size, round(1 / seconds[size]), 1e6 * seconds[size], max(each["most_bytes"] for each in runs) / 1e6)
        for size, runs in found.items()
    )
    return Part(
        "walk",
        TITLE,
        kernel=f"Python {platform.python_version()} on the host",
        virtual_time=False,
        columns=(
            Column("frames", "frames"),
            Column("frames_s", "frames/s"),
            Column("frame_us", "µs a frame", 2),
            Column("memory_mb", "memory MB", 0),
        ),
        rows=rows,
        facts=(
            "Connections through VS/DR, 46 frames each, from frames in memory to walks and conversations.",
            f"A capture is held whole with its walks: {memory[most] / 1000:.1f} kB a frame, "
            f"{most * memory[most] / 1e9:.2g} GB for {most:,}.",
        ),
        chart=Chart(TITLE, "thousand frames", "seconds", (Curve("joining", _curve(seconds)),)),
        ratios=(linear,),
        values={"frames_s": 1 / seconds[most], "frame_bytes": memory[most], linear.key: linear.value},
        readings={str(size): [each["seconds"] for each in runs] for size, runs in found.items()},
    )


def _curve(seconds: Mapping[int, float]) -> tuple[tuple[float, float], ...]:
    return tuple((size / 1000, size * each) for size, each in seconds.items())
