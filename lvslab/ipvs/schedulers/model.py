"""What every scheduler's reference model shares: servers in order, changes to them, and one choice per connection.

A model is a small object that is told what the administrator did (`add`, `delete`, `edit`), what the servers carry
(`observe`), and asked for one server per new connection (`pick`). It touches nothing but itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True)
class Flow:
    """The new connection, for schedulers that look at it."""

    source: Address
    source_port: int
    destination: Address


class Scheduler(ABC):
    """A scheduler of one service. `servers` are its own order, first to be considered first."""

    def __init__(self, servers: Iterable[Server] = ()) -> None:
        """Add the servers one by one, in the order given, to a service that begins with none."""
        self.servers: list[Server] = []
        self.start()
        for server in servers:
            self.add(server)

    @abstractmethod
    def start(self) -> None:
        """Begin afresh on the servers as they are: what editing a service to this scheduler does."""

    @abstractmethod
    def add(self, server: Server) -> None: ...

    @abstractmethod
    def delete(self, name: str) -> None:
        """Raise KeyError if there is no such server."""

    @abstractmethod
    def pick(self, flow: Flow, /) -> Server | None:
        """Return the server for a new connection, or None if the connection is refused."""

    def edit(self, name: str, weight: int) -> None:
        """Set a weight, as the administrator does. Raise KeyError if there is no such server."""
        position = self.position(name)
        self.servers[position] = replace(self.servers[position], weight=weight)

    def observe(self, server: Server) -> None:
        """Take over the counts and the overload mark of a server; its weight and the cycle stay."""
        position = self.position(server.name)
        self.servers[position] = replace(server, weight=self.servers[position].weight)

    def position(self, name: str) -> int:
        for position, server in enumerate(self.servers):
            if server.name == name:
                return position
        raise KeyError(name)


def available(server: Server) -> bool:
    """Return whether the kernel's rr and wrr may give this server a connection at all."""
    return server.weight > 0 and not server.overloaded
