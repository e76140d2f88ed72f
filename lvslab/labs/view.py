"""What checks and observations look at: a lab that is running, and what has been seen in it so far."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from lvslab.topology.model import Topology, VirtualService

if TYPE_CHECKING:
    from lvslab.capture.frame import Capture
    from lvslab.ipvs.model import Connection, ServiceEntry
    from lvslab.lab import Examination, Lab
    from lvslab.sandbox.sandbox import Finished
    from lvslab.traffic.load import Throughput
    from lvslab.traffic.outcome import Outcome
    from lvslab.verify.evidence import Evidence, NodeFacts
    from lvslab.verify.result import Result

_CALL_TIMES = 1
LOAD_S = 4.0
_WARM_UP_S = 1.0
"""Long enough for TCP to fill a shaped card of some hundred kbit/s."""


class View:
    """One look at a running lab: the standard traffic is sent at most once, when something first asks for it."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._facts: dict[str, NodeFacts] = {}
        self._of_vip: dict[str, Examination] = {}
        self._loads: dict[tuple[str, int, int], Throughput] = {}

    @property
    def topology(self) -> Topology:
        return self.lab.topology

    @cached_property
    def examination(self) -> Examination:
        """The standard traffic, captured and judged."""
        return self.lab.examine()

    def examination_of(self, vip: str | None) -> Examination:
        """The standard traffic of one VIP's services alone, captured and judged; of all without a VIP."""
        if vip is None:
            return self.examination
        if vip not in self._of_vip:
            self._of_vip[vip] = self.lab.only_service(vip).examine()
        return self._of_vip[vip]

    def evidence_of_call(self, client: str, vip: str | None = None) -> Evidence:
        """Capture one call of a client, scheduled anew: for clients that the standard traffic leaves out."""
        from lvslab.verify.evidence import Evidence

        caller = self.lab.node(client)
        with self.lab.record() as recording:
            self.lab.forget_vips()
            outcomes = self.call(caller.name, 1, vip)
        capture = recording.finished()
        return Evidence(self.topology, capture, self.lab.walks(capture), outcomes, used=True)

    @property
    def kept_capture(self) -> Capture | None:
        """The capture of the standard traffic, if it was asked for."""
        examined: Examination | None = self.__dict__.get("examination")
        return None if examined is None else examined.evidence.capture

    def results(self, name: str, vip: str | None = None) -> tuple[Result, ...]:
        """Return the results of one expectation, one per service where there are several."""
        judged = self.examination_of(vip).result.expectations
        return tuple(result for result in judged if result.name.split()[0] == name)

    def facts(self, node: str) -> NodeFacts:
        """Return what the node's kernel says of itself now."""
        if node not in self._facts:
            self._facts[node] = self.lab.facts(node)
        return self._facts[node]

    def sysctl(self, node: str, key: str) -> str:
        return self.lab.node(node).read_sysctl(key)

    def run(self, node: str, *argv: str) -> Finished:
        return self.lab.node(node).run(*argv)

    def table(self, director: str) -> tuple[ServiceEntry, ...]:
        """Return the director's virtual services."""
        return self.lab.ipvs(director).services()

    def connections(self, director: str) -> tuple[Connection, ...]:
        """Return the entries of the director's connection table."""
        return self.lab.connections(director)

    def service(self, vip: str | None = None, port: int | None = None) -> VirtualService:
        """Return the topology's service at an address and port, by default the first. Raises LookupError."""
        for service in self.topology.services:
            if vip in (None, str(service.vip)) and port in (None, service.port):
                return service
        raise LookupError(f"the lab has no service at {vip}:{port}")

    def call(
        self, client: str | None, times: int = _CALL_TIMES, vip: str | None = None, port: int | None = None
    ) -> tuple[Outcome, ...]:
        """Fetch a page from the service so many times, one after another, each call scheduled anew."""
        service, caller = self.service(vip, port), client or self.client
        first_port = self.lab.unused_ports(caller, times).start
        return self.lab.node(caller).get(str(service.vip), service.port, times=times, first_port=first_port)

    def load(self, vip: str | None, connections: int) -> Throughput:
        """Fetch from a service over so many connections at once, for some seconds, at most once."""
        service = self.service(vip)
        key = str(service.vip), service.port, connections
        if key not in self._loads:
            self._loads[key] = self.lab.node(self.client).load(
                str(service.vip), service.port, connections=connections, seconds=LOAD_S, warm_up_s=_WARM_UP_S
            )
        return self._loads[key]

    @property
    def client(self) -> str:
        """The first client's name."""
        return next(node.name for node in self.topology.nodes if node.role.value == "client")

    def owner_of_mac(self, mac: str) -> str:
        """Return the node that has a MAC address, or the address itself."""
        owners: Mapping[str, str] = {
            interface.mac: node.name for node in self.topology.nodes for interface in node.interfaces
        }
        return owners.get(mac, mac)

    def owner_of_address(self, address: str) -> str:
        """Return the node that an address belongs to; `VIP` for virtual addresses; else the address itself."""
        for node in self.topology.nodes:
            if address in map(str, node.own_addresses):
                return node.name
        return "VIP" if address in {str(service.vip) for service in self.topology.services} else address
