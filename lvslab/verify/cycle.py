"""What rr and wrr choose, from the beginning of their cycle or from wherever they were in it.

Both go round in a cycle that depends on the servers and weights alone. Where in it a service is depends on every
connection it has had, and for wrr on every change of its servers too: nobody can read it out of the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from lvslab.ipvs.schedulers import Flow, Server, scheduler
from lvslab.topology.model import VirtualService

CYCLIC = ("rr", "wrr")
REFUSED = "refused"
LONGEST_TURN = 1 << 14
"""Connections: more places than this to begin at are not tried."""


def turn(service: VirtualService) -> int:
    """Return after how many connections the choices repeat; at least 1."""
    weights = [destination.weight for destination in service.destinations if destination.weight]
    connections = len(weights) if service.scheduler == "rr" else sum(weights) // (gcd(*weights) or 1)
    return max(1, connections)


def predicted(service: VirtualService, number: int) -> list[str]:
    """Return the nodes that the first connections go to after `service.destinations` were added in order."""
    model = scheduler(service.scheduler, [Server(item.node, item.weight) for item in service.destinations])
    flow = Flow(service.vip, 0, service.vip)  # the models of CYCLIC do not look at it
    chosen = [model.pick(flow) for _ in range(number)]
    return [server.name if server else REFUSED for server in chosen]


def predicted_from_anywhere(service: VirtualService, got: Sequence[str]) -> list[str]:
    """Return what is predicted for `got` from that place in the cycle which agrees with it longest."""
    places = turn(service)
    choices = predicted(service, places + len(got))
    best = max(range(places), key=lambda place: agreement(got, choices[place:]))
    return choices[best : best + len(got)]


def agreement(got: Sequence[str], wanted: Sequence[str]) -> int:
    """Return how many agree before the first that differ."""
    pairs = enumerate(zip(got, wanted, strict=False))
    return next((number for number, (have, want) in pairs if have != want), min(len(got), len(wanted)))
