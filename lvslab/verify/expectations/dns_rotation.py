"""RR-DNS: the name server turns its answer by one each time it is asked."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from lvslab.topology.model import NameService
from lvslab.traffic.dns import DNS_PORT, DnsAnswer
from lvslab.verify.causes import names as causes
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count, counts
from lvslab.verify.names import Asked, never_sent, own_questions, questions
from lvslab.verify.result import Result

NAME = "dns-rotation"
SHOWN = 4


def judge(evidence: Evidence, service: NameService) -> Result:
    """Compare the answers that clients had from the name server itself, in order.

    Where somebody else asked in between, the next answer may be turned by any number.
    """
    server = service.server
    statement = Statement(NAME, f"{server} turns the addresses of {service.name} by one each time")
    records = {str(address) for _, address in service.records}
    asked = own_questions(evidence, service, server)
    of_others = {item.time_ns for item in questions(evidence, service, server)} - {item.time_ns for item in asked}
    own = {str(address) for address in evidence.topology.node(server).own_addresses}
    silent = never_sent(evidence, own, DNS_PORT, asked)
    if silent:
        client = silent[0].client
        return statement.failed(
            f"{client} could not ask {server} ({silent[0].status})",
            where=client,
            cause=causes.no_way_out(evidence, client, server),
        )
    if not asked:
        return statement.error(
            f"no question to {server} is in the capture",
            reason="nothing was asked, so nothing could be judged",
            next_step=f"capture while clients ask for {service.name}",
        )
    fault = next((fault for item in asked if (fault := _answer_fault(statement, evidence, service, item))), None)
    fault = fault or next(
        (fault for pair in pairwise(asked) if (fault := _turn_fault(statement, server, *pair, of_others))), None
    )
    if fault is not None:
        return fault
    if len(asked) < 2 or len(records) < 2:
        return statement.skipped("it takes two answers with two addresses to see them turn")
    firsts = counts(item.answer.addresses[0] for item in asked if item.answer)
    seen = f"{count(len(asked), 'answer')}, first addresses: {firsts}"
    return statement.passed(seen, [frame for item in asked for frame in item.frames], server)


def _answer_fault(statement: Statement, evidence: Evidence, service: NameService, asked: Asked) -> Result | None:
    if asked.answer is None:
        return statement.failed(
            f"{asked.node} asked {service.server} and got no answer; the question was last seen at {asked.end.where}",
            where=asked.end.where,
            frames=asked.frames,
            cause=causes.unanswered(evidence, asked, service.server, service.name),
        )
    records = {str(address) for _, address in service.records}
    if set(asked.answer.addresses) == records:
        return None
    return statement.failed(
        f"{asked.node} got {_listed(asked.answer)} instead of all {count(len(records), 'address', 'addresses')}",
        where=service.server,
        frames=asked.frames,
        cause=Cause(f"{service.server} serves another list", f"on {asked.node}: dig {service.name} @{asked.of}"),
    )


def _turn_fault(
    statement: Statement, server: str, before: Asked, after: Asked, of_others: Collection[int]
) -> Result | None:
    if before.answer is None or after.answer is None:
        return None
    one, other = before.answer.addresses, after.answer.addresses
    disturbed = any(before.time_ns < time_ns < after.time_ns for time_ns in of_others)
    # Name servers differ in which way they turn.
    if other in _turns(one) if disturbed else other in (one[1:] + one[:1], one[-1:] + one[:-1]):
        return None
    return statement.failed(
        f"after {_listed(before.answer)} came {_listed(after.answer)}",
        where=server,
        frames=(*before.frames, *after.frames),
        cause=Cause(f"{server} does not rotate, or somebody else asked in between", "dig the name twice"),
    )


def _turns(addresses: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {addresses[place:] + addresses[:place] for place in range(len(addresses))}


def _listed(answer: DnsAnswer) -> str:
    more = ", …" if len(answer.addresses) > SHOWN else ""
    return ", ".join(answer.addresses[:SHOWN]) + more
