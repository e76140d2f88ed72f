"""What a scheduler chooses when the connections there are count: a capture replayed through the service's model.

A connection counts as active from its first packet at the director until a FIN or RST has passed there, and as
inactive from then on. So long as no entry of the table has expired that is all the kernel knows too; the shortest it
keeps one is 10 seconds, after a RST (net/netfilter/ipvs/ip_vs_proto_tcp.c: tcp_timeouts). A template lives so long as
one of its connections is in the table, and no less than the service's time after the last of them came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lvslab.capture.packet import Tcp
from lvslab.ipvs.schedulers import MODELS, RANDOM, Flow
from lvslab.ipvs.schedulers.forecast import server_names, service_of_topology
from lvslab.ipvs.schedulers.service import Counted
from lvslab.topology.model import Protocol, VirtualService
from lvslab.verify.cycle import CYCLIC, REFUSED
from lvslab.verify.served import Served
from lvslab.walk.model import Walk

SHORTEST_ENTRY_S: Final = 10
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


def certain_s(service: VirtualService) -> int:
    """Return for how long after its last connection nothing that decides the next can have left the table."""
    counts = _has_thresholds(service) or service.scheduler not in (*CYCLIC, *_WITHOUT_MEMORY)
    if service.persistence_s is None or counts:
        return SHORTEST_ENTRY_S
    return max(SHORTEST_ENTRY_S, service.persistence_s)


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
    ends: list[tuple[int, Counted]] = []
    nodes = []
    for served in connections:
        arrival = served.opening.at(director)[0].number
        for frame, earlier in ends:
            if frame < arrival:
                model.close(earlier)
        choice, counted = model.open(_flow(served), active=served.service.protocol is Protocol.TCP)
        nodes.append(node_of[choice.server.name] if choice.server else REFUSED)
        end = min(_ends(served, director), default=None)
        if counted is not None and end is not None:
            ends.append((end, counted))
    return nodes


def _flow(served: Served) -> Flow:
    initiator = served.conversation.initiator
    if initiator is None:
        raise ValueError("a connection to a service has an initiator")
    vip = served.service.vip
    return Flow(vip.__class__(initiator.address), initiator.port or 0, vip)


def _ends(served: Served, director: str) -> Iterator[int]:
    """Return the frames in which the director saw the connection end.

    A client's RST ends it only once it was established: before that the kernel does not believe it
    (ip_vs_proto_tcp.c: tcp_states, row rst, state SR).
    """
    established = False
    for number, flags in _flags(served.requests, director):
        if "F" in flags or ("R" in flags and established):
            yield number
        established = established or "." in flags
    for number, flags in _flags(served.replies, director):
        if "F" in flags or "R" in flags:
            yield number


def _flags(walks: Iterable[Walk], director: str) -> Iterator[tuple[int, str]]:
    """Return the TCP flags of packets, each with the frame in which the director first saw it."""
    for walk in walks:
        transport = walk.origin.packet.transport
        hops = walk.at(director)
        if hops and isinstance(transport, Tcp):
            yield hops[0].number, transport.flags
