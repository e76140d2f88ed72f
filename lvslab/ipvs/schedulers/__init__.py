"""Reference models of the schedulers, in two readings: as the kernel runs them, and as the LVS papers state them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from lvslab.errors import BadInput
from lvslab.ipvs.schedulers.model import Flow, Scheduler, Server
from lvslab.ipvs.schedulers.rr import KernelRoundRobin, PapersRoundRobin
from lvslab.ipvs.schedulers.wrr import KernelWeightedRoundRobin, PapersWeightedRoundRobin

__all__ = ["MODELS", "Flow", "Reading", "Scheduler", "Server", "scheduler"]

Reading = Literal["kernel", "papers"]

MODELS: Final[Mapping[Reading, Mapping[str, type[Scheduler]]]] = {
    "kernel": {"rr": KernelRoundRobin, "wrr": KernelWeightedRoundRobin},
    "papers": {"rr": PapersRoundRobin, "wrr": PapersWeightedRoundRobin},
}


def scheduler(name: str, servers: Iterable[Server], reading: Reading = "kernel") -> Scheduler:
    """Return the model of a scheduler after `servers` were added in this order. Raises BadInput if there is none."""
    models = MODELS[reading]
    if name not in models:
        raise BadInput("no reference model of this scheduler", expected=f"one of {', '.join(models)}", found=name)
    return models[name](servers)
