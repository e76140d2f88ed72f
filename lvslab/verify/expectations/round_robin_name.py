"""RR-DNS: answers rotate, clients connect straight to a server, and a caching resolver undoes the rotation.

The last is not a fault of the cluster but of the technique, and it is shown and measured, not hidden: inside
one TTL the resolver repeats one order, so all its clients land on one server (the LVS papers' first objection).
"""

from __future__ import annotations

from collections import Counter

from lvslab.topology.model import NameService
from lvslab.verify.causes import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.names import Asked, Connected, connections, questions
from lvslab.verify.result import Result

NANOSECONDS = 1_000_000_000


def judge_rotation(evidence: Evidence, service: NameService) -> Result:
    """Each direct answer is the one before, turned by one; the first addresses go round all servers."""
    statement = Statement("dns-rotation", f"{service.server} turns the addresses of {service.name} by one each time")
    records = {str(address) for _, address in service.records}
    asked = _asked_of(evidence, service.server, by_resolver=service.resolver)
    if not asked:
        return statement.failed(
            f"no question reached {service.server}",
            where=service.server,
            cause=Cause("the clients have no route to the name server", "look at the clients' default routes"),
        )
    before: Asked | None = None
    for this in asked:
        if this.answer is None or set(this.answer.addresses) != records:
            return _wrong_answer(statement, service, this, records)
        if (
            before is not None
            and before.answer is not None
            and not _turned(before.answer.addresses, this.answer.addresses)
        ):
            return statement.failed(
                f"after {before.answer.addresses[0]}, … came {this.answer.addresses[0]}, …",
                where=service.server,
                frames=(*before.frames, *this.frames),
                cause=Cause("the name server does not rotate, or somebody else asked in between", "dig the name twice"),
            )
        before = this
    firsts = Counter(item.answer.addresses[0] for item in asked if item.answer)
    seen = f"{count(len(asked), 'answer')}, first addresses: " + ", ".join(
        f"{a} {n}×" for a, n in firsts.most_common(6)
    )
    return statement.passed(seen, [frame for item in asked for frame in item.frames], service.server)


def _turned(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Tell a turn by one, in either direction (name servers differ in which way they go)."""
    return after in (before[1:] + before[:1], before[-1:] + before[:-1])


def _wrong_answer(statement: Statement, service: NameService, this: Asked, records: set[str]) -> Result:
    got = ", ".join(this.answer.addresses[:4]) if this.answer else "no answer"
    return statement.failed(
        f"{this.node} got {got} instead of {count(len(records), 'address').replace('addresss', 'addresses')}",
        where=service.server,
        frames=this.frames,
        cause=Cause("the name server does not run, or serves another list", f"dig {service.name} @{this.of}"),
    )


def judge_direct_connection(evidence: Evidence, service: NameService) -> Result:
    """Each client connects to the first address it was given, and that server itself answers."""
    statement = Statement("dns-direct", "each client connects straight to the first address it was given")
    servers = {str(address): name for name, address in service.records}
    made = connections(evidence, service)
    if not made:
        return statement.failed(
            "no client connected to an address of the name",
            where=service.server,
            cause=Cause("no client got an address", "see dns-rotation"),
        )
    for connected in made:
        fault = _connection_fault(statement, connected, servers)
        if fault is not None:
            return fault
    astray = _not_as_told(evidence, service, made)
    if astray is not None:
        return statement.failed(
            f"{astray.node} connected to {astray.address}, which was not the first address it was given",
            where=astray.node,
            frames=astray.conversation.requests[0].frames,
            cause=Cause(
                "the client sorts addresses itself (RFC 6724)", "put clients and servers on different networks"
            ),
        )
    per_server = Counter(servers[connected.address] for connected in made)
    seen = f"{count(len(made), 'connection')}: " + ", ".join(f"{name} {n}" for name, n in per_server.most_common(6))
    return statement.passed(seen, [connected.conversation.requests[0].origin.number for connected in made])


def _connection_fault(statement: Statement, connected: Connected, servers: dict[str, str]) -> Result | None:
    server = servers.get(connected.address)
    opening, replies = connected.conversation.requests[0], connected.conversation.replies
    answered = any(
        walk.origin.node == server and walk.origin.packet.payload and walk.hops[-1].node == connected.node
        for walk in replies
    )
    if server is not None and answered:
        return None
    refused = any(not walk.origin.packet.payload for walk in replies)
    why = f"nothing listens on it at {server}" if refused else f"{server} is down or out of reach"
    return statement.failed(
        f"{connected.node} connected to {connected.address} ({server or 'nobody'}) and got no answer",
        where=opening.hops[-1].where,
        frames=opening.frames,
        cause=Cause(f"{why}: DNS goes on handing out its address until it is taken out", f"on {server}: ss -ltn"),
    )


def _not_as_told(evidence: Evidence, service: NameService, made: tuple[Connected, ...]) -> Connected | None:
    """Return the first connection that does not follow its client's answers in order."""
    told: dict[str, list[str]] = {}
    for asked in questions(evidence):
        if asked.answer is not None and asked.node != service.resolver:
            told.setdefault(asked.node, []).append(asked.answer.addresses[0])
    for connected in made:
        expected = told.get(connected.node, [])
        if not expected or expected.pop(0) != connected.address:
            return connected
    return None


def judge_cached_window(evidence: Evidence, service: NameService) -> Result:
    """Inside one TTL every client of the resolver is sent to one and the same server."""
    statement = Statement(
        "dns-cache", f"inside one TTL ({service.ttl_s} s) all clients of the resolver land on one server"
    )
    if service.resolver is None:
        return statement.skipped("there is no resolver")
    cached = _asked_of(evidence, service.resolver, by_resolver=None)
    upstream = [item for item in _asked_of(evidence, service.server, by_resolver=None) if item.node == service.resolver]
    if not cached or not upstream:
        return statement.failed(
            f"{count(len(cached), 'question')} to {service.resolver}, {len(upstream)} from it to {service.server}",
            where=service.resolver,
            cause=Cause("the resolver does not run or cannot reach the name server", "lvslab walk shows the questions"),
        )
    firsts = {item.answer.addresses[0] for item in cached if item.answer}
    unanswered = [item for item in cached if item.answer is None]
    span_s = (cached[-1].time_ns - cached[0].time_ns) / NANOSECONDS
    frames = [frame for item in cached for frame in item.frames]
    if unanswered:
        return statement.failed(
            f"{unanswered[0].node} got no answer from {service.resolver}",
            where=service.resolver,
            frames=unanswered[0].frames,
            cause=Cause("the resolver has no answer", f"dig {service.name} on {unanswered[0].node}"),
        )
    if len(firsts) > 1:
        return statement.failed(
            f"{len(firsts)} different first addresses within {span_s:.1f} s, {len(upstream)} questions passed on",
            where=service.resolver,
            frames=frames,
            cause=Cause("the resolver does not cache, or rotates what it has cached", "look at the TTL of its answers"),
        )
    servers = {str(address): name for name, address in service.records}
    clients = len({item.node for item in cached})
    return statement.passed(
        f"{count(len(cached), 'question')} of {count(clients, 'client')} in {span_s:.1f} s, "
        f"{len(upstream)} passed on: all were sent to {servers.get(firsts.pop(), 'nobody')}",
        frames,
        service.resolver,
    )


def _asked_of(evidence: Evidence, node: str, *, by_resolver: str | None) -> tuple[Asked, ...]:
    """Return the questions `node` was asked, those of the resolver left out where it is named."""
    own = {str(address) for address in evidence.topology.node(node).own_addresses}
    return tuple(item for item in questions(evidence) if item.of in own and item.node != by_resolver)
