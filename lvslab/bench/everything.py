"""All benchmarks in one run, each as small as still says something, so that the whole takes under ten minutes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lvslab.bench import build, capture, director, headline, skew, verdict, walk
from lvslab.bench.result import Benchmark
from lvslab.kernels.choose import kernel_with_virtual_time
from lvslab.lab import Phase, quiet

Run = Callable[[Phase], Benchmark]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run found, and on what machine."""

    benchmarks: tuple[Benchmark, ...]
    seconds: float
    processors: int
    load_before: float
    load_after: float
    """Processes that wanted a processor, on average over a minute: benchmarks themselves want one or two."""


def runs(kernel: str | None) -> Mapping[str, Run]:
    """Return the benchmarks by name. Where there is a kernel with virtual time the papers' figures are taken on it."""
    exact = kernel_with_virtual_time(kernel)
    cards = headline.Settings(exact or kernel, virtual_time=exact is not None, rounds=1)
    return {
        "build": lambda phase: build.run(build.Settings(kernel), phase),
        "capture": lambda phase: capture.run(capture.Settings(kernel, rates=(250, 1000, 4000, 16000)), phase),
        "walk": lambda phase: walk.run(walk.Settings(), phase),
        "verdict": lambda phase: verdict.run(verdict.Settings(), phase),
        "director": lambda phase: director.run(director.Settings(kernel), phase),
        "headline": lambda phase: headline.run(cards, phase),
        "skew": lambda phase: skew.run(skew.Settings(kernel, virtual_time=exact is not None), phase),
    }


def run(kernel: str | None = None, phase: Phase = quiet, chosen: Mapping[str, Run] | None = None) -> Outcome:
    """Run the benchmarks one after another: `chosen`, else all. Raises as each of them does."""
    begun, load_before = time.monotonic(), os.getloadavg()[0]
    found = []
    for name, benchmark in (runs(kernel) if chosen is None else chosen).items():
        with phase(name):
            found.append(benchmark(phase))
    seconds = time.monotonic() - begun
    return Outcome(tuple(found), seconds, os.cpu_count() or 1, load_before, os.getloadavg()[0])
