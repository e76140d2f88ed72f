"""Locality-based least connections with replication: a destination address has a set of servers.

The papers choose by weighted least connections inside the set; when that server is overloaded (C > W, while some server
of the cluster is below half its weight), the cluster's weighted least is taken and put into the set; when the set has
several members and was not changed for a time T, the most loaded is dropped.

The kernel (net/netfilter/ipvs/ip_vs_lblcr.c) differs in this: only active connections count as C in that test, loads
are those of its wlc; T is the sysctl lblcr_expiration, 24 hours at first; at T the choice is made before the most
loaded member is dropped, so that it can get this one connection; deleted servers stay in the set, count as members and
can be the most loaded; unused sets are forgotten as :mod:`lvslab.ipvs.schedulers.locality` says. Newest first, in the
set as in the cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lvslab.ipvs.schedulers.least import Cost, connections, least, overhead
from lvslab.ipvs.schedulers.locality import DAY_S, Cache, kernel_overloaded, papers_overloaded
from lvslab.ipvs.schedulers.model import Choice, Flow, KernelScheduler, PapersScheduler, Server, weightless

IN_THE_SET = "least cost in the destination's set"
NEW_IN_THE_SET = "least cost of all, and from now on in the destination's set"


@dataclass(slots=True)
class ServerSet:
    """A destination's servers by name, newest first, and when that last changed."""

    names: list[str]
    changed_s: float

    def put(self, name: str, now_s: float) -> None:
        if name not in self.names:
            self.names.insert(0, name)
            self.changed_s = now_s

    def drop(self, name: str, now_s: float) -> None:
        self.names.remove(name)
        self.changed_s = now_s

    def __str__(self) -> str:
        return " ".join(self.names) or "empty"


class KernelReplicatedLocality(KernelScheduler):
    def start(self) -> None:
        self.cache: Cache[ServerSet] = Cache()

    def choose(self, flow: Flow, /) -> Choice:
        entry = self.cache.use(flow.destination, flow.at_s)
        if entry is None:
            choice = replace(least(self.servers, overhead(self.counting)), state=(("set", "none"),))
            if choice.server is not None:
                self.cache.remember(flow.destination, ServerSet([choice.server.name], flow.at_s), flow.at_s)
            return choice
        members = entry.value
        state = (("set", str(members)),)
        inside = least(self._present(members), overhead(self.counting))
        if len(members.names) > 1 and flow.at_s - members.changed_s > self.cache.expiration_s:
            self._shrink(members, flow.at_s)
        if inside.server is not None and not kernel_overloaded(inside.server, self.servers):
            return replace(inside, reason=IN_THE_SET, state=state)
        choice = least(self.servers, overhead(self.counting))
        if choice.server is None:
            return replace(choice, state=state)
        members.put(choice.server.name, flow.at_s)
        return replace(choice, reason=NEW_IN_THE_SET, state=state)

    def _present(self, members: ServerSet) -> list[Server]:
        servers = {server.name: server for server in self.servers}
        return [servers[name] for name in members.names if name in servers]

    def _shrink(self, members: ServerSet, now_s: float) -> None:
        servers = {server.name: server for server in self.servers} | self.gone
        loaded = most([servers[name] for name in members.names], overhead(self.counting))
        if loaded is not None:
            members.drop(loaded.name, now_s)


class PapersReplicatedLocality(PapersScheduler):
    """T is 24 hours here, as it is at first in the kernel: the papers leave it open."""

    def start(self) -> None:
        self._sets: dict[object, ServerSet] = {}

    def choose(self, flow: Flow, /) -> Choice:
        members = self._sets.setdefault(flow.destination, ServerSet([], flow.at_s))
        state = (("set", str(members)),)
        inside = [server for server in self.servers if server.name in members.names]
        choice = replace(least(inside, connections, refusal=weightless), reason=IN_THE_SET)
        if choice.server is None or papers_overloaded(choice.server, self.servers):
            choice = replace(least(self.servers, connections, refusal=weightless), reason=NEW_IN_THE_SET)
            if choice.server is not None:
                members.put(choice.server.name, flow.at_s)
        if len(inside) > 1 and flow.at_s - members.changed_s > DAY_S:
            loaded = most(inside, connections)
            if loaded is not None:
                members.drop(loaded.name, flow.at_s)
        return replace(choice, state=state)


def most(servers: Sequence[Server], cost: Cost) -> Server | None:
    """Return the first of the servers of weight above 0 whose cost by weight is highest."""
    best: Server | None = None
    for server in servers:
        if server.weight > 0 and (best is None or cost(best) * server.weight < cost(server) * best.weight):
            best = server
    return best
