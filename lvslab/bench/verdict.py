"""From the command to the verdict: `lvslab verify dr` as a user types it, on each kernel, and what takes the time."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from lvslab.bench.pairs import ratio
from lvslab.bench.result import Benchmark, Column, Part, Ratio, Value
from lvslab.errors import KernelFault
from lvslab.kernels.choose import present_kernels
from lvslab.lab import Phase, quiet

TITLE = "From the command to the verdict: lvslab verify dr"
PHASES = ("boot", "build", "traffic", "capture", "join", "judge", "teardown")
WHOLE, REST = "whole", "start"
"""The rest is Python's start, reading the command line, and printing the report."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Kernels in turn, so many rounds; default: all that are here."""

    kernels: tuple[str, ...] = ()
    topology: str = "dr"
    rounds: int = 5


Seconds = Mapping[str, Sequence[float]]
"""By phase: a value for each round."""


def run(settings: Settings, phase: Phase = quiet) -> Benchmark:
    """Time the command on each kernel. Raises CannotRun without a kernel, KernelFault if the verdict is no pass."""
    kernels = settings.kernels or present_kernels()
    found: dict[str, list[Mapping[str, float]]] = {kernel: [] for kernel in kernels}
    for number in range(1, settings.rounds + 1):
        for kernel, rounds in found.items():
            with phase(f"{kernel}, round {number} of {settings.rounds}"):
                rounds.append(timed(kernel, settings.topology))
    seconds = {
        kernel: {name: [each[name] for each in rounds] for name in rounds[0]} for kernel, rounds in found.items()
    }
    return Benchmark(
        "verdict", TITLE, (_part(seconds, settings),), {"topology": settings.topology, "rounds": settings.rounds}
    )


def timed(kernel: str, topology: str) -> dict[str, float]:
    """Return seconds of one whole command by phase, and the rest."""
    command = str(Path(sys.executable).with_name("lvslab"))
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        argv = [command, "verify", topology, "--kernel", kernel, "--json", str(report)]
        begun = time.perf_counter()
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        whole_s = time.perf_counter() - begun
        if done.returncode:
            raise KernelFault("the verdict is no pass", where=" ".join(argv), found=done.stderr.strip() or done.stdout)
        (result,) = json.loads(report.read_text())["results"]
    return split(whole_s, result["seconds"])


def split(whole_s: float, phases: Mapping[str, float]) -> dict[str, float]:
    return {WHOLE: whole_s, **{name: phases[name] for name in PHASES}, REST: whole_s - sum(phases.values())}


def _part(found: Mapping[str, Seconds], settings: Settings) -> Part:
    names = (REST, *PHASES, WHOLE)
    rows: list[tuple[Value, ...]] = [(name, *(median(seconds[name]) for seconds in found.values())) for name in names]
    first, *others = found
    boots = {name: found[first][name] for name in ("boot", WHOLE)}
    ratios = [
        Ratio("boot_over_whole", f"command to verdict on {first}: boot / whole", ratio(boots, "boot", WHOLE)),
    ]
    ratios += [
        Ratio(
            f"{kernel}_over_{first}".replace(":", "_").replace(".", "_"),
            f"command to verdict: {kernel} / {first}",
            ratio({kernel: found[kernel][WHOLE], first: found[first][WHOLE]}, kernel, first),
        )
        for kernel in others
    ]
    return Part(
        "verdict",
        TITLE,
        kernel=", ".join(found),
        virtual_time=False,
        columns=(Column("phase", "phase"), *(Column(kernel, f"{kernel} s", 2) for kernel in found)),
        rows=tuple(rows),
        facts=(
            f"Seconds, medians of {settings.rounds} rounds, each phase by itself. Start is Python's own, with the "
            "command line and the report. Boot ends when the agent answers; modules are loaded meanwhile.",
        ),
        ratios=tuple(ratios),
        values={f"{kernel}_s": median(seconds[WHOLE]) for kernel, seconds in found.items()},
        readings={f"{kernel}-{name}": seconds[name] for kernel, seconds in found.items() for name in names},
    )
