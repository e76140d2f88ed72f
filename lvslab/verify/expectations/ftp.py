"""Files come over passive and active data connections, and the client never hears of an address but the VIP.

Read from the frames at the client itself: what a helper rewrites is no longer the packet that the server sent, so there
is no walk to follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lvslab.capture.frame import Direction
from lvslab.capture.packet import Tcp
from lvslab.topology.model import Role, VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.walk.model import Hop

NAME = "ftp"
DATA_PORT = 20
PASSIVE = re.compile(rb"227 [^(]*\((\d+),(\d+),(\d+),(\d+),\d+,\d+\)")


def judge(evidence: Evidence, service: VirtualService) -> Result:
    statement = Statement(NAME, f"files come over passive and active data connections of {service.vip}")
    received = list(_received(evidence))
    passive = [(hop, named, "was told to connect to") for hop in received if (named := _named(hop))]
    active = [(hop, hop.source.address, "was connected to from") for hop in received if hop.source and _is_active(hop)]
    for hop, address, what in (*passive, *active):
        if address != str(service.vip):
            seen = f"{hop.node} {what} {address} instead of {service.vip}"
            return statement.failed(seen, where=hop.where, frames=[hop.number], cause=_no_helper(service))
    calls = [each for each in evidence.outcomes or () if (each.address, each.port) == (str(service.vip), service.port)]
    failed = [outcome for outcome in calls if not outcome.ok]
    if failed:
        seen = f"{len(failed)} of {count(len(calls), 'file')} did not come ({failed[0].status})"
        return statement.failed(seen, where=failed[0].client, cause=_no_helper(service))
    if not passive or not active:
        return statement.skipped("the capture has no data connections of both kinds")
    servers = ", ".join(dict.fromkeys(outcome.server for outcome in calls))
    seen = f"{len(passive)} passive and {len(active)} active data connections"
    frames = [hop.number for hop, _, _ in (*passive, *active)]
    return statement.passed(f"{seen}, files from {servers}" if servers else seen, frames)


def _received(evidence: Evidence) -> Iterator[Hop]:
    """Yield what came in at the clients."""
    clients = {node.name for node in evidence.topology.with_role(Role.CLIENT)}
    walks = evidence.walks
    parts = [*(walk.hops for walk in walks.walks), *(rest.hops for rest in walks.unmatched)]
    yield from (hop for hops in parts for hop in hops if hop.node in clients and hop.direction is Direction.IN)


def _named(hop: Hop) -> str:
    found = PASSIVE.match(hop.packet.payload)
    return ".".join(part.decode() for part in found.groups()) if found else ""


def _is_active(hop: Hop) -> bool:
    transport = hop.packet.transport
    return isinstance(transport, Tcp) and transport.source_port == DATA_PORT and transport.flags == "S"


def _no_helper(service: VirtualService) -> Cause:
    director = service.director
    return Cause(
        f"no helper of {director} sees the addresses in the control connection: ip_vs_ftp watches port 21 alone",
        f"on {director}: modprobe ip_vs_ftp ports=21,2121 (its parameter), or serve on port 21",
    )
