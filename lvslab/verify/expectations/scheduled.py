"""Which server each connection got is what the scheduler's reference model says, connection by connection.

What counts is whom the director sent it to, whether or not it arrived; a connection that the director refused
went to nobody. Where the director sent nothing on for another reason, its choice cannot be seen.

Where the service was used before, or may have been, rr and wrr were somewhere in their cycle when the traffic began:
then the choices must be what the model predicts from one of the places in it. Schedulers that count connections are
judged only from the beginning. Connections of others are scheduled too, and count; but whether all of them were
captured is not known, and so a difference proves nothing when there were any.
"""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.capture.packet import Sctp, Tcp
from lvslab.topology.model import VirtualService
from lvslab.verify import cycle, replay
from lvslab.verify.causes.cause import Cause
from lvslab.verify.clients import by_client
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.installed import differences, in_order_of
from lvslab.verify.others import count_of_others
from lvslab.verify.result import Result
from lvslab.verify.served import Served, served_together
from lvslab.walk.identity import opening_number

NAME = "scheduler"
SHOWN = 12


@dataclass(frozen=True, slots=True)
class Choices:
    """Connections in the order in which the director saw them, each with the server it got and the one predicted."""

    scheduled: list[Served]
    got: list[str]
    wanted: list[str]


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    director = service.director
    statement = Statement(NAME, f"{service.scheduler} gives each connection the server its model predicts")
    table = (evidence.tables or {}).get(director)
    changes = differences(table, service) if table is not None else []
    if changes:
        return _changed(statement, director, changes)
    found = choices(evidence, service, connections)
    if isinstance(found, str):
        return statement.skipped(found)
    if found.got != found.wanted:
        return _wrong(statement, evidence, director, found)
    frames = [served.opening.origin.number for served in found.scheduled]
    return statement.passed(_seen(evidence, found.got, connections, found.scheduled), frames, director)


def choices(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Choices | str:
    """Return what the scheduler chose beside what its model predicts, or why nothing can be predicted."""
    director = service.director
    reason = _unpredictable(service, afresh=evidence.begins_afresh)
    if reason:
        return reason
    if not any(served.through_director for served in connections):
        return f"no connection passed {director}"
    scheduled = _in_order_of_arrival(served_together(evidence, service), director)
    swallowed = sum(served.swallowed for served in scheduled)
    if swallowed:
        return f"{director} sent nothing on for {count(swallowed, 'connection')}: no choice is seen"
    got = [served.chosen.node if served.chosen else cycle.REFUSED for served in scheduled]
    certain_s = replay.certain_s(service, scheduled)
    if replay.looks_back(service) and replay.lasted_s(scheduled) > certain_s:
        return f"in more than {certain_s} s connections may have left the table"
    table = (evidence.tables or {}).get(director)
    wanted = _predicted(in_order_of(table, service), scheduled, got, afresh=evidence.begins_afresh)
    return Choices(scheduled, got, wanted)


def _changed(statement: Statement, director: str, changes: list[str]) -> Result:
    cause = Cause(
        "the table was changed: it is not the one that the topology describes",
        f"on {director}: ipvsadm -Sn shows it; lvslab plan NAME --shell lists the commands that made it",
    )
    return statement.failed("; ".join(changes[:SHOWN]), where=director, cause=cause)


def _wrong(
    statement: Statement,
    evidence: Evidence,
    director: str,
    found: Choices,
) -> Result:
    got, wanted = found.got, found.wanted
    first = cycle.agreement(got, wanted)
    served = found.scheduled[first]
    seen = (
        f"{served.label}, number {first + 1}, went to {got[first]}, not to {wanted[first]}: "
        f"{_sequence(got)} instead of {_sequence(wanted)}"
    )
    others = count_of_others(evidence, director)
    if others:
        return statement.error(
            seen,
            where=director,
            reason=f"{count(others, 'connection')} of others passed {director} meanwhile, perhaps not all captured",
            next_step="end the other traffic and verify again",
        )
    cause = Cause("the table was changed meanwhile", f"on {director}: ipvsadm -Ln --nosort")
    return statement.failed(seen, where=director, frames=[served.opening.origin.number], cause=cause)


def _unpredictable(service: VirtualService, *, afresh: bool) -> str:
    if replay.applies(service):
        return replay.unpredictable(service, afresh=afresh)
    if cycle.turn(service) > cycle.LONGEST_TURN:
        return f"the weights make a cycle of more than {cycle.LONGEST_TURN} connections"
    return ""


def _predicted(service: VirtualService, scheduled: list[Served], got: list[str], *, afresh: bool) -> list[str]:
    if replay.applies(service):
        return replay.predicted(service, scheduled)
    return cycle.predicted(service, len(got)) if afresh else cycle.predicted_from_anywhere(service, got)


def _in_order_of_arrival(connections: tuple[Served, ...], director: str) -> list[Served]:
    """Return those whose beginning the director saw, as it saw them: of the others the choice was made before."""
    begun = [served for served in connections if served.through_director and _is_beginning(served)]
    return sorted(begun, key=lambda served: _arrival(served, director))


def _is_beginning(served: Served) -> bool:
    """TCP begins with a SYN, SCTP with an INIT; a datagram may always be the first."""
    packet = served.opening.origin.packet
    return not isinstance(packet.transport, Tcp | Sctp) or opening_number(packet) is not None


def _arrival(served: Served, director: str) -> int:
    return served.opening.at(director)[0].number


def _seen(evidence: Evidence, got: list[str], own: tuple[Served, ...], scheduled: list[Served]) -> str:
    seen, director = _sequence(got), own[0].service.director
    if own[0].service.persistence_s is not None:
        clients = len(by_client(scheduled))
        return f"{count(clients, 'client')} scheduled, the others by template: {seen}"
    if own[0].service.mark is not None:
        return f"all connections of mark {own[0].service.mark}: {seen}"
    passed = sum(served.through_director for served in own)
    if passed < len(own):
        seen = f"{passed} of {count(len(own), 'connection')} passed {director}: {seen}"
    others = len(got) - passed
    if others:
        seen = f"with {count(others, 'connection')} of others: {seen}"
    anywhere = not evidence.begins_afresh and not replay.applies(own[0].service)
    return f"{seen}, from where it was in its cycle" if anywhere else seen


def _sequence(names: list[str]) -> str:
    more = f" … ({len(names)} in all)" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
