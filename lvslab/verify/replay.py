"""What a scheduler chooses when the connections there are count: a capture replayed through the service's model.

A connection counts as active while :mod:`lvslab.verify.activity` says so, and as inactive otherwise. So long as no
entry of the table has expired that is all the kernel knows too. A template lives so long as one of its connections is
in the table, and no less than the service's time after the last of them came.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from lvslab.ipvs.schedulers import MODELS, RANDOM, Flow
from lvslab.ipvs.schedulers.forecast import server_names, service_of_topology
from lvslab.ipvs.schedulers.service import Counted
from lvslab.topology.model import Protocol, VirtualService
from lvslab.verify.activity import Turn, active_at_once, turns
from lvslab.verify.cycle import CYCLIC, REFUSED
from lvslab.verify.served import Served

_SHORTEST_ENTRY_S: Final = 10
_SHORTEST_OF_SCTP_S: Final = 4
"""How long an entry stays at least: TCP's after a RST, SCTP's after a first or a refused INIT
(net/netfilter/ipvs/ip_vs_proto_tcp.c: tcp_timeouts, ip_vs_proto_sctp.c: sctp_timeouts)."""
_WITHOUT_MEMORY: Final = ("dh", "sh", "mh", "fo")
"""Schedulers to which it is all one what connections there were before."""


def unpredictable(service: VirtualService, *, afresh: bool) -> str:
    """Return why nobody can say what the service's scheduler chooses, or an empty text."""
    name = service.scheduler
    if name == RANDOM:
        return f"{name} chooses at random"
    if name not in MODELS["kernel"]:
        return f"there is no reference model of {name}"
    if service.persistence_s is not None and not afresh:
        return "a template of earlier traffic may decide where a client goes"
    if looks_back(service) and not afresh:
        return f"what {name} chooses depends on connections before, and there may have been some"
    return ""


def applies(service: VirtualService) -> bool:
    """Return whether more than a place in a cycle decides."""
    return service.scheduler not in CYCLIC or _has_thresholds(service) or service.persistence_s is not None


def looks_back(service: VirtualService) -> bool:
    """Return whether it matters what connections there were before, and which of them are left."""
    persistent = service.persistence_s is not None
    return persistent or _has_thresholds(service) or service.scheduler not in (*CYCLIC, *_WITHOUT_MEMORY)


def certain_s(service: VirtualService, connections: Iterable[Served]) -> int:
    """Return for how long after its last connection nothing that decides the next can have left the table."""
    over_sctp = any(served.service.protocol is Protocol.SCTP for served in connections)
    entry_s = _SHORTEST_OF_SCTP_S if over_sctp else _SHORTEST_ENTRY_S
    counts = _has_thresholds(service) or service.scheduler not in (*CYCLIC, *_WITHOUT_MEMORY)
    if service.persistence_s is None or counts:
        return entry_s
    return max(entry_s, service.persistence_s)


def _has_thresholds(service: VirtualService) -> bool:
    return any(destination.upper_threshold for destination in service.destinations)


def lasted_s(connections: Sequence[Served]) -> float:
    """Return the time between the first connection's first packet and the last one's."""
    times = [served.opening.origin.time_ns for served in connections]
    return (max(times, default=0) - min(times, default=0)) / 1e9


def predicted(service: VirtualService, connections: Sequence[Served]) -> list[str]:
    """Return the node that each connection goes to, they being in the order in which the director saw them."""
    model = service_of_topology(service)
    node_of = {name: item.node for name, item in zip(server_names(service), service.destinations, strict=True)}
    director = service.director
    coming: list[tuple[Turn, Counted]] = []
    nodes = []
    for served in connections:
        arrival = served.opening.at(director)[0].number
        for turn, earlier in coming:
            if turn.frame < arrival:
                model.turn(earlier, active=turn.active)
        coming = [(turn, earlier) for turn, earlier in coming if turn.frame >= arrival]
        choice, counted = model.open(_flow(served), active=active_at_once(served.service.protocol))
        nodes.append(node_of[choice.server.name] if choice.server else REFUSED)
        if counted is not None:
            coming += [(turn, counted) for turn in turns(served)]
            coming.sort(key=lambda item: item[0].frame)
    return nodes


def _flow(served: Served) -> Flow:
    initiator = served.conversation.initiator
    if initiator is None:
        raise ValueError("a connection to a service has an initiator")
    vip = served.service.vip
    return Flow(vip.__class__(initiator.address), initiator.port or 0, vip)
