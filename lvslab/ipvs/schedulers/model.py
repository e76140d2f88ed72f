"""What every scheduler's reference model shares: servers in order, changes to them, and one choice per connection.

A model is a small object that is told what the administrator did (`add`, `delete`, `edit`), what the servers carry
(`observe`), and asked for one server per new connection (`choose`). It touches nothing but itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from lvslab.ipvs.model import Flag
from lvslab.ipvs.schedulers.counting import Counting
from lvslab.topology.model import Address


@dataclass(frozen=True, slots=True)
class Server:
    """A destination as schedulers see it; counts and the overload mark come from observation."""

    name: str
    weight: int = 1
    active: int = 0
    inactive: int = 0
    overloaded: bool = False
    """The upper threshold was reached and the lower one not yet again (IP_VS_DEST_F_OVERLOAD)."""
    address: Address | None = None
    """Only mh looks at the server's own address and port."""
    port: int = 0

    @property
    def connections(self) -> int:
        return self.active + self.inactive


@dataclass(frozen=True, slots=True)
class Flow:
    """The new connection, for schedulers that look at it."""

    source: Address
    source_port: int
    destination: Address
    at_s: float = 0.0
    """When it came, in seconds since the service got its scheduler; only lblc and lblcr look at the clock."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One server as the scheduler looked at it, and what became of it in words."""

    server: Server
    verdict: str
    cost: int | None = None
    """What was compared, before it is divided by the weight; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The server for one new connection, or None if it is refused, and how the scheduler came to it."""

    server: Server | None
    reason: str
    state: tuple[tuple[str, int | str], ...] = ()
    """What the scheduler remembered or worked out, by its name: pointer, current weight, bucket."""
    candidates: tuple[Candidate, ...] = ()
    """The servers that were looked at, in that order."""


class Scheduler(ABC):
    """A scheduler of one service. `servers` are its own order, first to be considered first."""

    newest_first: ClassVar[bool]
    """Where a new server goes: in front of the others, or behind them."""

    def __init__(
        self,
        servers: Iterable[Server] = (),
        *,
        flags: frozenset[Flag] = frozenset(),
        counting: Counting = Counting.TOTAL,
    ) -> None:
        """Add the servers one by one, in the order given, to a service that begins with none."""
        self.servers: list[Server] = []
        self.gone: dict[str, Server] = {}
        """Deleted servers by name: a cache may still hold them, and they may come back."""
        self.last_weights: dict[str, int] = {}
        """By server, the weight it was added with or the last one above 0 it was given (ip_vs_ctl.c: last_weight)."""
        self.flags = flags
        self.counting = counting
        self.start()
        for server in servers:
            self.add(server)

    def succeed(self, previous: Scheduler) -> Self:
        """Take over the servers of the service's previous scheduler, and begin afresh on them."""
        self.servers = list(previous.servers)
        self.gone = dict(previous.gone)
        self.last_weights = dict(previous.last_weights)
        self.start()
        return self

    def start(self) -> None:  # noqa: B027 - many schedulers remember nothing
        """Begin afresh on the servers as they are: what editing a service to this scheduler does."""

    @abstractmethod
    def choose(self, flow: Flow, /) -> Choice:
        """Choose for a new connection, and remember what the scheduler remembers of it."""

    def pick(self, flow: Flow) -> Server | None:
        """Return the server for a new connection, or None if the connection is refused."""
        return self.choose(flow).server

    def add(self, server: Server) -> None:
        self.gone.pop(server.name, None)
        self.last_weights[server.name] = server.weight
        position = 0 if self.newest_first else len(self.servers)
        self.servers.insert(position, server)
        self.added(position)

    def delete(self, name: str) -> None:
        """Raise KeyError if there is no such server."""
        position = self.position(name)
        self.gone[name] = self.servers.pop(position)
        self.deleted(position)

    def edit(self, name: str, weight: int) -> None:
        """Set a weight, as the administrator does. Raise KeyError if there is no such server."""
        position = self.position(name)
        self.last_weights[name] = weight or self.last_weights[name]
        self.servers[position] = replace(self.servers[position], weight=weight)
        self.edited()

    def added(self, position: int) -> None:  # noqa: B027
        """Note that a server was added."""

    def deleted(self, position: int) -> None:  # noqa: B027
        """Note that the server that was there was deleted."""

    def edited(self) -> None:  # noqa: B027
        """Note that a server was given a weight, be it the same."""

    def observe(self, server: Server) -> None:
        """Take over the counts and the overload mark of a server; its weight and the cycle stay."""
        if server.name in self.gone:
            self.gone[server.name] = replace(server, weight=self.gone[server.name].weight)
            return
        position = self.position(server.name)
        self.servers[position] = replace(server, weight=self.servers[position].weight)

    def position(self, name: str) -> int:
        for position, server in enumerate(self.servers):
            if server.name == name:
                return position
        raise KeyError(name)


class KernelScheduler(Scheduler):
    """The kernel puts each new destination in front (ip_vs_ctl.c: __ip_vs_update_dest, list_add_rcu)."""

    newest_first = True


class PapersScheduler(Scheduler):
    """The papers number their servers in the order given, and nothing overloads them but their connections."""

    newest_first = False


def unavailable(server: Server) -> str:
    """Return why most of the kernel's schedulers pass a server over, or an empty text if they do not."""
    if server.weight <= 0:
        return "weight 0"
    return "overloaded" if server.overloaded else ""


def weightless(server: Server) -> str:
    """Return why the papers' schedulers pass a server over, or an empty text if they do not."""
    return "" if server.weight > 0 else "weight 0"


NOBODY = "no server is available"
