"""The calls a client made to a virtual service, beside the connections the capture shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lvslab.topology.model import VirtualService
from lvslab.traffic.outcome import Outcome
from lvslab.verify.evidence import Evidence
from lvslab.verify.served import Served


@dataclass(frozen=True, slots=True)
class Call:
    """One call: how it ended for the client, and its connection. At least one of the two is known."""

    outcome: Outcome | None
    """None in a stored capture."""
    served: Served | None
    """None if no packet of it was captured."""

    @property
    def label(self) -> str:
        if self.served is not None:
            return self.served.label
        return f"call from {self.outcome.client} port {self.outcome.client_port}" if self.outcome else ""


def calls_of(evidence: Evidence, service: VirtualService, connections: Iterable[Served]) -> tuple[Call, ...]:
    """Return every call to `service`, those that left no packet included."""
    by_caller: dict[tuple[str, int | None], list[Served]] = {}
    for served in connections:
        by_caller.setdefault(served.caller, []).append(served)
    outcomes = [outcome for outcome in evidence.outcomes or () if _is_to(outcome, service)]
    calls = [Call(outcome, _next(by_caller.get((outcome.client, outcome.client_port), []))) for outcome in outcomes]
    called = {id(call.served) for call in calls}
    rest = (served for each in by_caller.values() for served in each if id(served) not in called)
    return (*calls, *(Call(None, served) for served in rest))


def _next(of_caller: list[Served]) -> Served | None:
    """Take the caller's next connection; the last one is that of all calls that follow, datagrams from one port."""
    if len(of_caller) > 1:
        return of_caller.pop(0)
    return of_caller[0] if of_caller else None


def _is_to(outcome: Outcome, service: VirtualService) -> bool:
    return (outcome.protocol, outcome.address, outcome.port) == (service.protocol, str(service.vip), service.port)
