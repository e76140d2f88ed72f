"""A virtual service as the kernel keeps it: a scheduler, and what each of its destinations carries.

Where a scheduler's model is told the counts, this one keeps them: it is told which connections come, close and expire.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lvslab.ipvs.model import Flag, Persistence
from lvslab.ipvs.schedulers import Reading, scheduler
from lvslab.ipvs.schedulers.counting import Counting
from lvslab.ipvs.schedulers.load import Load
from lvslab.ipvs.schedulers.model import Candidate, Choice, Flow, Scheduler, Server
from lvslab.ipvs.templates import client_network
from lvslab.topology.model import Subnet

BY_TEMPLATE = "its client's template"


@dataclass(slots=True)
class Counted:
    """A connection in the table of connections."""

    server: str
    active: bool


class ServiceModel:
    """One service: `scheduler` is its scheduler's model, `loads` what each destination carries, deleted ones too.

    A persistent one asks the scheduler for a client's first connection; `templates` has the server of each client from
    then on, as if none of them expired. A template holds whatever its server's weight and thresholds, so long as the
    server is there (net/netfilter/ipvs/ip_vs_conn.c: ip_vs_check_template), and what it decides counts as any
    connection does.
    """

    def __init__(
        self,
        name: str,
        reading: Reading = "kernel",
        *,
        flags: frozenset[Flag] = frozenset(),
        counting: Counting = Counting.TOTAL,
        persistence: Persistence | None = None,
    ) -> None:
        """Begin without servers. Raises BadInput if the scheduler has no such model."""
        self._reading = reading
        self._counting = counting
        self.name = name
        self.scheduler: Scheduler = scheduler(name, [], reading, flags=flags, counting=counting)
        self.loads: dict[str, Load] = {}
        self.persistence = persistence
        self.templates: dict[Subnet, str] = {}

    @property
    def servers_as_added(self) -> list[Server]:
        """The destinations, the first that was added first."""
        servers = self.scheduler.servers
        return servers[::-1] if self.scheduler.newest_first else list(servers)

    def add(self, server: Server, *, upper: int = 0, lower: int = 0) -> None:
        """Add a destination; one that was deleted and still has connections comes back with them."""
        load = self.loads.setdefault(server.name, Load(self._counting))
        load.limit(upper, lower)
        self.scheduler.add(_with_load(server, load))

    def delete(self, name: str) -> None:
        self.scheduler.delete(name)

    def edit(self, name: str, weight: int, *, upper: int = 0, lower: int = 0) -> None:
        self.loads[name].limit(upper, lower)
        self._observe(name)
        self.scheduler.edit(name, weight)

    def edit_service(self, name: str, flags: frozenset[Flag] = frozenset()) -> None:
        """Set scheduler and flags; the same scheduler goes on where it is (ip_vs_ctl.c: ip_vs_edit_service)."""
        if name != self.name:
            successor = scheduler(name, [], self._reading, counting=self._counting)
            self.scheduler = successor.succeed(self.scheduler)
            self.name = name
        self.scheduler.flags = flags

    def carry(self, name: str, *, active: int, inactive: int, overloaded: bool) -> None:
        """Set what a destination carries, as a kernel's table says."""
        load = self.loads[name]
        load.active, load.inactive, load.overloaded = active, inactive, overloaded
        self._observe(name)

    def open(self, flow: Flow, *, active: bool = True) -> tuple[Choice, Counted | None]:
        """Choose for a new connection and count it; None if it is refused.

        TCP's are active; UDP's and, until it is established, SCTP's are not.
        """
        choice = self._by_template(flow) or self._by_scheduler(flow)
        if choice.server is None:
            return choice, None
        self.loads[choice.server.name].open(active=active)
        self._observe(choice.server.name)
        return choice, Counted(choice.server.name, active)

    def _by_template(self, flow: Flow) -> Choice | None:
        """Return the server that the client's template names; one whose server is gone is forgotten."""
        if self.persistence is None:
            return None
        client = client_network(flow.source, self.persistence.prefix)
        name = self.templates.pop(client, None)
        server = next((server for server in self.scheduler.servers if server.name == name), None)
        if server is None:
            return None
        self.templates[client] = server.name
        return Choice(server, BY_TEMPLATE, (("template", f"{_named(client)} {name}"),), (Candidate(server, "taken"),))

    def _by_scheduler(self, flow: Flow) -> Choice:
        choice = self.scheduler.choose(flow)
        if self.persistence is not None and choice.server is not None:
            self.templates[client_network(flow.source, self.persistence.prefix)] = choice.server.name
        return choice

    def close(self, connection: Counted) -> None:
        """Note that a connection's FIN or RST has passed."""
        self.turn(connection, active=False)

    def turn(self, connection: Counted, *, active: bool) -> None:
        """Note that a connection has become active, or inactive."""
        if connection.active is not active:
            connection.active = active
            self.loads[connection.server].turn(active=active)
            self._observe(connection.server)

    def expire(self, connection: Counted) -> None:
        """Note that a connection's entry has expired."""
        self.loads[connection.server].expire(active=connection.active)
        self._observe(connection.server)

    def _observe(self, name: str) -> None:
        known = self.scheduler.gone.get(name) or self.scheduler.servers[self.scheduler.position(name)]
        self.scheduler.observe(_with_load(known, self.loads[name]))


def _with_load(server: Server, load: Load) -> Server:
    return replace(server, active=load.active, inactive=load.inactive, overloaded=load.overloaded)


def _named(client: Subnet) -> str:
    """Return an address, or a subnet of several."""
    return str(client.network_address if client.num_addresses == 1 else client)
