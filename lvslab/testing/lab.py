"""The cluster as a test has it: traffic is sent, captured and made into something to assert about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lvslab.errors import BadInput
from lvslab.lab import LabNode, Recording
from lvslab.testing.call import CallUnderTest
from lvslab.testing.judgement import JudgementUnderTest
from lvslab.testing.seen import Seen
from lvslab.testing.url import Callee, address_of, callee
from lvslab.traffic.drive import first_client
from lvslab.verify.cycle import REFUSED
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.arp_owner import vip_claims
from lvslab.verify.served import Served, served_connections, vip_endpoint
from lvslab.walk.select import arp_about, connections
from lvslab.walk.terms import with_terms

if TYPE_CHECKING:
    from lvslab.lab import Lab
    from lvslab.topology.model import Address, Topology, VirtualService
    from lvslab.traffic.outcome import Outcome
    from lvslab.walk.model import Conversation, Walks

NOBODY = "nobody"


@dataclass(slots=True)
class RecordedCalls:
    """Filled in when the recording ends."""

    calls: tuple[CallUnderTest, ...] = ()
    """The connections, in order of time."""


class LabUnderTest:
    """A running cluster, for the time of one test."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        """All that :class:`lvslab.Lab` can do; what is captured through it is not kept when the test fails."""
        self.seen: list[Seen] = []

    @property
    def topology(self) -> Topology:
        return self.lab.topology

    @property
    def nodes(self) -> Mapping[str, LabNode]:
        return self.lab.nodes

    @property
    def where(self) -> str:
        """The kernel and what built the network in it: ``uml 6.1.176, netns``."""
        return f"{self.lab.kernel} {self.lab.kernel_release}, {self.lab.backend}"

    @property
    def vip(self) -> str:
        """The address of the virtual service. Raises BadInput if there are several."""
        return str(self._only_vip())

    def node(self, name: str) -> LabNode:
        """Return a node, to run programs in. Raises BadInput."""
        return self.lab.node(name)

    def walk(self, client: str | LabNode, url: str) -> CallUnderTest:
        """Call `url` once from a node, and return the call with the way of its packets.

        A URL is ``http://ADDRESS/``, ``udp://ADDRESS:PORT`` or ``sctp://ADDRESS:PORT``; nodes and `vip` are addresses
        too. Raises BadInput.
        """
        node = client if isinstance(client, LabNode) else self.node(client)
        target = callee(url, self.topology)
        with self.lab.record() as recording:
            (outcome,) = self._call(node, target)
        evidence = self._evidence(recording)
        conversation = _of_call(evidence.walks, outcome)
        title = f"{node.name} → {url}"
        self.seen.append(Seen(title, self.where, evidence, conversation))
        return CallUnderTest(evidence.walks, conversation, tuple(self.nodes), title, outcome)

    @contextmanager
    def record(self) -> Iterator[RecordedCalls]:
        """Capture what programs send while the body runs; the calls are there afterwards."""
        recorded = RecordedCalls()
        recording = Recording()
        try:
            with self.lab.record() as recording:
                yield recorded
        finally:
            if recording.capture is not None:
                recorded.calls = self._recorded(recording)

    def arp_owner(self, vip: str | None = None) -> str:
        """Make a client call a VIP (default: the only one), whose address nobody knows yet, and return who claims it.

        Whoever answers for it does, and whoever asks in its name. That is the node's name; several are joined by
        commas, and without any it is ``nobody``. Raises BadInput.
        """
        address = self._only_vip() if vip is None else address_of(vip, self.topology)
        service = self._of_vip(address)
        if address.version == 6:
            raise BadInput("IPv6 has no ARP", where="arp_owner", expected="an IPv4 address", found=str(address))
        client, _ = first_client(self.topology, address)
        self.lab.forget_vips()
        with self.lab.record() as recording:
            self._call(self.node(client.name), _callee_of(service))
        evidence = self._evidence(recording)
        claims = vip_claims(evidence, service)
        about = {walk.origin.number for walk in arp_about(evidence.walks, str(address))}
        shown = about.union(claim.number for claim in claims)
        arp = tuple(walk for walk in evidence.walks.walks if walk.origin.number in shown)
        self.seen.append(Seen(f"who has {address}", self.where, evidence, arp=arp))
        return ", ".join(dict.fromkeys(claim.node for claim in claims)) or NOBODY

    def schedule(self, count: int, url: str | None = None) -> list[str]:
        """Make so many connections to the only service, or the one at `url`, one after another; return their servers.

        They are those that the director chose, seen in its packets. ``refused`` stands for a connection that it
        refused, ``nobody`` for one that it did not see or sent to nobody. Raises BadInput.
        """
        # True is an int, too.
        if type(count) is not int or count < 1:
            raise BadInput("not a number of connections", where="schedule", expected="1 or more", found=repr(count))
        service = self._service(None if url is None else callee(url, self.topology))
        client, _ = first_client(self.topology, service.vip)
        with self.lab.record() as recording:
            outcomes = self._call(self.node(client.name), _callee_of(service), count)
        evidence = self._evidence(recording)
        title = f"{client.name} → {vip_endpoint(service)}, {count} times"
        self.seen.append(Seen(title, self.where, evidence))
        served = {each.caller: each for each in served_connections(evidence, service)}
        return [_choice(served.get((client.name, outcome.client_port))) for outcome in outcomes]

    def verify(self) -> JudgementUnderTest:
        """Send the standard traffic and judge every expectation, as ``lvslab verify`` does."""
        examination = self.lab.examine()
        self.seen.append(Seen("verify", self.where, examination.evidence, examination=examination))
        return JudgementUnderTest(examination.result)

    def _call(self, node: LabNode, target: Callee, times: int = 1) -> tuple[Outcome, ...]:
        """Call from ports that no director remembers: each call is scheduled."""
        first = self.lab.unused_ports(node.name, times).start
        return node.call(str(target.address), target.port, target.protocol, times=times, first_port=first)

    def _evidence(self, recording: Recording) -> Evidence:
        capture = recording.finished()
        walks = with_terms(self.lab.walks(capture), self.topology)
        return Evidence(self.topology, capture, walks, used=True)

    def _recorded(self, recording: Recording) -> tuple[CallUnderTest, ...]:
        evidence = self._evidence(recording)
        self.seen.append(Seen("recorded", self.where, evidence))
        return tuple(
            CallUnderTest(evidence.walks, each, tuple(self.nodes), f"{each.initiator} → {each.responder}")
            for each in connections(evidence.walks)
        )

    def _only_vip(self) -> Address:
        vips = {service.vip for service in self.topology.services}
        if len(vips) != 1:
            found = ", ".join(map(str, sorted(vips, key=str)))
            raise BadInput("which VIP?", where=self.topology.name, expected="one address", found=found or "none")
        return vips.pop()

    def _of_vip(self, vip: Address) -> VirtualService:
        return self._one([each for each in self.topology.services if each.vip == vip][:1], str(vip))

    def _service(self, target: Callee | None) -> VirtualService:
        services = [each for each in self.topology.services if target in (None, _callee_of(each))]
        return self._one(services, "one" if target is None else f"{target.protocol}/{target.address}:{target.port}")

    def _one(self, services: Sequence[VirtualService], wanted: str) -> VirtualService:
        if len(services) == 1:
            return services[0]
        known = ", ".join(f"{each.protocol}/{vip_endpoint(each)}" for each in self.topology.services)
        raise BadInput("which virtual service?", where=self.topology.name, expected=known or "none", found=wanted)


def _callee_of(service: VirtualService) -> Callee:
    return Callee(service.vip, service.port, service.protocol)


def _of_call(walks: Walks, outcome: Outcome) -> Conversation | None:
    """Return the connection that a call was, or None if nothing of it was captured."""
    caller = (outcome.client, outcome.client_port)
    return next((each for each in connections(walks) if caller == _caller(each)), None)


def _caller(conversation: Conversation) -> tuple[str, int | None]:
    port = conversation.initiator.port if conversation.initiator is not None else None
    return conversation.requests[0].origin.node, port


def _choice(served: Served | None) -> str:
    if served is None or (served.chosen is None and not served.refused_by_director):
        return NOBODY
    return served.chosen.node if served.chosen is not None else REFUSED
