"""RR-DNS: each client connects to the first address it was given, and that server, or its cluster, answers."""

from __future__ import annotations

from lvslab.topology.model import NameService
from lvslab.verify.causes import names as causes
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count, counts
from lvslab.verify.names import Connected, connections, never_sent, own_questions
from lvslab.verify.result import Result

NAME = "dns-direct"


def judge(evidence: Evidence, service: NameService) -> Result:
    statement = Statement(NAME, "each client connects straight to the first address it was given")
    servers = {str(address): name for name, address in service.records}
    made = connections(evidence, service)
    silent = never_sent(evidence, servers, service.port, made)
    if silent:
        client, server = silent[0].client, servers[silent[0].address]
        return statement.failed(
            f"{client} could not connect to {silent[0].address} ({server}): {silent[0].status}",
            where=client,
            cause=causes.cluster_behind(evidence, server) or causes.no_way_out(evidence, client, server),
        )
    told = _told(evidence, service)
    if not made and not any(told.values()):
        return statement.skipped("no client was given an address")
    fault = next((fault for item in made if (fault := _connection_fault(statement, evidence, service, item))), None)
    fault = fault or _not_as_told(statement, told, made)
    if fault is not None:
        return fault
    seen = f"{count(len(made), 'connection')}: {counts(servers[item.address] for item in made)}"
    return statement.passed(seen, [item.conversation.requests[0].origin.number for item in made])


def _told(evidence: Evidence, service: NameService) -> dict[str, list[str]]:
    """Return the first addresses each client was given, in order of asking, by whatever server."""
    asked = [*own_questions(evidence, service, service.server)]
    if service.resolver is not None:
        asked += own_questions(evidence, service, service.resolver)
    told: dict[str, list[str]] = {}
    for item in sorted(asked, key=lambda item: item.time_ns):
        if item.answer is not None:
            told.setdefault(item.node, []).append(item.answer.addresses[0])
    return told


def _connection_fault(
    statement: Statement, evidence: Evidence, service: NameService, connected: Connected
) -> Result | None:
    server = {str(address): name for name, address in service.records}.get(connected.address)
    opening = connected.conversation.requests[0]
    if server is None:
        return statement.failed(
            f"{connected.node} connected to {connected.address}, which is no address of the name",
            where=opening.origin.where,
            frames=opening.frames,
            cause=Cause("the client did not take the address from DNS", "lvslab walk shows the connections"),
        )
    answering = _answering(evidence, server)
    answered = any(
        walk.origin.node in answering and walk.origin.packet.payload and walk.hops[-1].node == connected.node
        for walk in connected.conversation.replies
    )
    if answered:
        return None
    return statement.failed(
        f"{connected.node} connected to {connected.address} ({server}) and got no answer",
        where=opening.hops[-1].where,
        frames=opening.frames,
        cause=causes.cluster_behind(evidence, server) or causes.unreached(evidence, service, connected, server),
    )


def _answering(evidence: Evidence, server: str) -> set[str]:
    """Return who may answer at an address: the server itself, or those behind a director."""
    services = [service for service in evidence.topology.services if service.director == server]
    return {server, *(destination.node for service in services for destination in service.destinations)}


def _not_as_told(statement: Statement, told: dict[str, list[str]], made: tuple[Connected, ...]) -> Result | None:
    """Find the first connection that does not follow its client's answers in order, or an answer not followed."""
    for connected in made:
        expected = told.get(connected.node, [])
        if not expected or expected.pop(0) != connected.address:
            return statement.failed(
                f"{connected.node} connected to {connected.address}, which was not the first address it was given",
                where=connected.node,
                frames=connected.conversation.requests[0].frames,
                cause=Cause(
                    "the client sorts addresses itself (RFC 6724)", "put clients and servers on different networks"
                ),
            )
    unused = next((node for node, rest in told.items() if rest), None)
    if unused is None:
        return None
    return statement.failed(
        f"{unused} was given {told[unused][0]} and did not connect to it",
        where=unused,
        cause=Cause("the client did not use the answer", "lvslab walk shows the connections"),
    )
