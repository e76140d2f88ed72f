"""Why a round-robin name was not found, or not reached."""

from __future__ import annotations

from lvslab.topology.model import NameService, Role
from lvslab.traffic.dns import DNS_PORT
from lvslab.verify.causes.cause import Cause, does_not_forward, facts_of
from lvslab.verify.causes.servers import default_route
from lvslab.verify.evidence import Evidence
from lvslab.verify.names import Asked, Connected


def no_way_out(evidence: Evidence, node: str, target: str) -> Cause:
    """A node could not send anything to `target`."""
    facts = facts_of(evidence, node)
    sure = facts is not None and not facts.gateways
    add = default_route(evidence.topology.node(node))
    return Cause(f"{'' if sure else 'likely: '}{node} has no default route, so no way to {target}", f"on {node}: {add}")


def unanswered(evidence: Evidence, asked: Asked, server: str, name: str) -> Cause:
    """A question to `server` got no answer."""
    end = asked.end.node
    if end != server:
        return does_not_forward(evidence, end) or Cause(
            f"the question came as far as {end}, not to {server}", f"on {end}: ip route"
        )
    facts = facts_of(evidence, server)
    if facts is not None and ("udp", DNS_PORT) not in facts.listening:
        return Cause(f"no name server runs on {server}", f"on {server}: ss -lnu")
    return Cause(f"the name server on {server} gives no answer", f"on {asked.node}: dig {name} @{asked.of}")


def nothing_passed_on(evidence: Evidence, service: NameService, resolver: str) -> Cause:
    """The resolver was asked and asked nobody."""
    facts = facts_of(evidence, resolver)
    if facts is not None and not facts.gateways:
        return no_way_out(evidence, resolver, service.server)
    return Cause(
        f"the resolver on {resolver} does not run, or cannot send to {service.server}",
        f"on {resolver}: ip route, ss -lnu",
    )


def cluster_behind(evidence: Evidence, server: str) -> Cause | None:
    """Return the cause if an address is a director's VIP: why its cluster fails, its own expectations say."""
    if evidence.topology.node(server).role is not Role.DIRECTOR:
        return None
    return Cause(
        f"the cluster of {server} does not answer; DNS goes on handing out its VIP until it is taken out",
        f"see what else failed at {server}",
    )


def unreached(evidence: Evidence, service: NameService, connected: Connected, server: str) -> Cause:
    """A connection to an address of the name got no answer from its server."""
    facts = facts_of(evidence, server)
    replies = connected.conversation.replies
    if any(walk.origin.node == server and not walk.origin.packet.payload for walk in replies):
        sure = facts is not None and ("tcp", service.port) not in facts.listening
        why = f"{'' if sure else 'likely: '}nothing listens on that port of {server}"
    else:
        end = connected.conversation.requests[-1].hops[-1].node
        forwards_not = does_not_forward(evidence, end) if end != server else None
        if forwards_not is not None:
            return forwards_not
        why = f"{server} is down or out of reach"
    return Cause(f"{why}; DNS goes on handing out its address until it is taken out", f"on {server}: ss -ltn")
