"""Reference models of the schedulers, in two readings: as the kernel runs them, and as the LVS papers state them.

The kernel's twos chooses at random: see :func:`lvslab.ipvs.schedulers.twos.distribution`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from lvslab.errors import BadInput
from lvslab.ipvs.model import Flag
from lvslab.ipvs.schedulers.counting import Counting
from lvslab.ipvs.schedulers.dh import KernelDestinationHashing, PapersDestinationHashing
from lvslab.ipvs.schedulers.fo import KernelFailover
from lvslab.ipvs.schedulers.lblc import KernelLocality, PapersLocality
from lvslab.ipvs.schedulers.lblcr import KernelReplicatedLocality, PapersReplicatedLocality
from lvslab.ipvs.schedulers.lc import KernelLeastConnections, PapersLeastConnections
from lvslab.ipvs.schedulers.mh import KernelMaglevHashing
from lvslab.ipvs.schedulers.model import Candidate, Choice, Flow, Scheduler, Server
from lvslab.ipvs.schedulers.nq import KernelNeverQueue
from lvslab.ipvs.schedulers.ovf import KernelOverflow
from lvslab.ipvs.schedulers.rr import KernelRoundRobin, PapersRoundRobin
from lvslab.ipvs.schedulers.sed import KernelShortestExpectedDelay
from lvslab.ipvs.schedulers.sh import KernelSourceHashing, PapersSourceHashing
from lvslab.ipvs.schedulers.wlc import KernelWeightedLeastConnections, PapersWeightedLeastConnections
from lvslab.ipvs.schedulers.wrr import KernelWeightedRoundRobin, PapersWeightedRoundRobin

__all__ = ["MODELS", "RANDOM", "Candidate", "Choice", "Counting", "Flow", "Reading", "Scheduler", "Server", "scheduler"]

Reading = Literal["kernel", "papers"]

MODELS: Final[Mapping[Reading, Mapping[str, type[Scheduler]]]] = {
    "kernel": {
        "rr": KernelRoundRobin,
        "wrr": KernelWeightedRoundRobin,
        "lc": KernelLeastConnections,
        "wlc": KernelWeightedLeastConnections,
        "lblc": KernelLocality,
        "lblcr": KernelReplicatedLocality,
        "dh": KernelDestinationHashing,
        "sh": KernelSourceHashing,
        "sed": KernelShortestExpectedDelay,
        "nq": KernelNeverQueue,
        "fo": KernelFailover,
        "ovf": KernelOverflow,
        "mh": KernelMaglevHashing,
    },
    "papers": {
        "rr": PapersRoundRobin,
        "wrr": PapersWeightedRoundRobin,
        "lc": PapersLeastConnections,
        "wlc": PapersWeightedLeastConnections,
        "lblc": PapersLocality,
        "lblcr": PapersReplicatedLocality,
        "dh": PapersDestinationHashing,
        "sh": PapersSourceHashing,
    },
}
RANDOM: Final = "twos"
"""The one scheduler whose choices nobody can predict."""


def scheduler(
    name: str,
    servers: Iterable[Server],
    reading: Reading = "kernel",
    *,
    flags: frozenset[Flag] = frozenset(),
    counting: Counting = Counting.TOTAL,
) -> Scheduler:
    """Return the model of a scheduler after `servers` were added in this order. Raises BadInput if there is none."""
    models = MODELS[reading]
    if name in models:
        return models[name](servers, flags=flags, counting=counting)
    if name == RANDOM:
        raise BadInput("twos chooses at random", where="scheduler", expected="a scheduler that can be predicted")
    if name in MODELS["kernel"]:
        raise BadInput("the papers do not describe this scheduler", expected=f"one of {', '.join(models)}", found=name)
    raise BadInput("no reference model of this scheduler", expected=f"one of {', '.join(models)}", found=name)
