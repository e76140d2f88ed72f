"""What is too large for a link on its way is told to its sender, or comes in pieces, or is never sent.

Which of these is expected follows from the topology: where segments are clamped nothing may be too large; where the
director does no path MTU discovery (net.ipv4.vs.pmtu_disc=0, Documentation/networking/ipvs-sysctl.rst) it sends outer
packets in pieces; otherwise senders are told (RFC 1191) and keep to it. A notice about a server's packet goes to the
VIP, and so to the director, which has to relay it (net/netfilter/ipvs/ip_vs_core.c: ip_vs_in_icmp).
"""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.topology.model import DEFAULT_MTU, Setting, Topology, VirtualService
from lvslab.verify.causes.cause import Cause
from lvslab.verify.causes.path_mtu import notice_lost, pieces_lost
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served
from lvslab.verify.too_large import next_mtu, notices_of
from lvslab.walk.model import Hop, Walk

NAME = "path-mtu"
PMTU_DISC_OFF = ("net.ipv4.vs.pmtu_disc", "0")
CLAMPED = "no packet is too large for its way: the segments of connections are clamped"
IN_PIECES = "{director} sends what is too large once it is wrapped in pieces, and servers put them together"
TOLD = "who sends a packet too large for its way is told so, and keeps to the size named"


def applies(topology: Topology) -> bool:
    """Tell a topology in which packets are large or links narrow."""
    narrow = any(interface.mtu != DEFAULT_MTU for node in topology.nodes for interface in node.interfaces)
    return narrow or topology.traffic.request_bytes > 0


@dataclass(frozen=True, slots=True)
class _TooLarge:
    """A packet that somebody refused to send on, and what was said of it."""

    served: Served
    packet: Walk
    notices: tuple[Walk, ...]

    @property
    def size(self) -> int:
        return _size(self.packet)

    @property
    def sender(self) -> str:
        return self.packet.origin.node

    @property
    def mtu(self) -> int:
        return next_mtu(self.notices[-1].origin.packet) or 0

    def heard(self) -> Hop | None:
        """Return where the sender got the notice."""
        return next((hop for notice in self.notices for hop in notice.receivers if hop.node == self.sender), None)


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    refused = [
        _TooLarge(served, walk, notices)
        for served in connections
        for walk in (*served.requests, *served.replies)
        if (notices := notices_of(walk, served.errors))
    ]
    if any(node.has(Setting.CLAMP_MSS) for node in evidence.topology.nodes):
        return _none_too_large(Statement(NAME, CLAMPED), connections, refused)
    if PMTU_DISC_OFF in evidence.topology.node(service.director).sysctls:
        statement = Statement(NAME, IN_PIECES.format(director=service.director))
        return (
            _joined(statement, evidence, service, connections) if not refused else _told(statement, evidence, refused)
        )
    return _told(Statement(NAME, TOLD), evidence, refused)


def _none_too_large(statement: Statement, connections: tuple[Served, ...], refused: list[_TooLarge]) -> Result:
    if refused:
        first = refused[0]
        return statement.failed(
            f"{first.served.label}: {first.sender} sent {first.size} bytes, too large for the MTU {first.mtu}",
            where=first.packet.origin.where,
            frames=first.packet.frames,
            cause=Cause(
                "no node on the way lowered the MSS in the connection's opening",
                "iptables-legacy -t mangle -S POSTROUTING where clamp_mss stands, and lvslab walk --all: TCP options",
            ),
        )
    sizes = [_size(walk) for served in connections for walk in (*served.requests, *served.replies)]
    if not sizes:
        return statement.skipped("no connection was seen")
    return statement.passed(f"{count(len(sizes), 'packet')}, the largest of {max(sizes)} bytes")


def _told(statement: Statement, evidence: Evidence, refused: list[_TooLarge]) -> Result:
    if not refused:
        return statement.skipped("nothing was sent that was too large: a sender may remember what it was told before")
    for item in refused:
        heard = item.heard()
        if heard is None:
            notice = item.notices[-1]
            end = notice.hops[-1]
            return statement.failed(
                f"{item.served.label}: {item.sender} sent {item.size} bytes; {notice.origin.node} answered that "
                f"{item.mtu} would fit, which was last seen at {end.where}",
                where=end.where,
                frames=(item.packet.hops[-1].number, *notice.frames),
                cause=notice_lost(evidence, end.node),
            )
        stubborn = _sent_too_large_later(item, heard)
        if stubborn is not None:
            return statement.failed(
                f"{item.served.label}: {item.sender} knew of MTU {item.mtu} and sent {_size(stubborn)} bytes",
                where=stubborn.origin.where,
                frames=(heard.number, stubborn.origin.number),
                cause=Cause(
                    f"{item.sender} does not heed path MTU discovery",
                    f"on {item.sender}: sysctl net.ipv4.ip_no_pmtu_disc, ip route get to the other end",
                ),
            )
    first = refused[0]
    way = " → ".join(first.notices[-1].nodes)
    frames = [number for item in refused for number in (item.packet.hops[-1].number, *item.notices[-1].frames)]
    mtus = ", then ".join(dict.fromkeys(str(item.mtu) for item in refused if item.sender == first.sender))
    told = f"{first.sender} was told of MTU {mtus} ({way})"
    seen = f"{count(len(refused), 'packet')} too large; {told} and kept to it"
    return statement.passed(seen, frames)


def _sent_too_large_later(item: _TooLarge, heard: Hop) -> Walk | None:
    sent = (walk for walk in item.served.conversation.walks if walk.origin.node == item.sender)
    return next((walk for walk in sent if walk.origin.time_ns > heard.time_ns and _size(walk) > item.mtu), None)


def _joined(
    statement: Statement, evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]
) -> Result:
    whole = [
        walk for served in connections for walk in served.requests if any(hop.frame.fragments for hop in walk.hops)
    ]
    servers = {destination.node for destination in service.destinations}
    lost = [walk for walk in whole if not servers & {hop.node for hop in walk.receivers}]
    if lost:
        end = lost[0].hops[-1]
        return statement.failed(
            f"a packet of {_size(lost[0])} bytes came to {end.where} in {count(len(end.frame.fragments), 'piece')}, "
            "and no server put them together",
            where=end.where,
            frames=[piece.number for piece in end.frame.fragments] or [end.number],
            cause=pieces_lost(evidence, end.node),
        )
    if not whole:
        return statement.skipped("nothing was sent that was too large")
    cut = next(hop for hop in whole[0].hops if hop.frame.fragments)
    seen = f"{count(len(whole), 'packet')} came in pieces and {'was' if len(whole) == 1 else 'were'} put together"
    return statement.passed(seen, [piece.number for piece in cut.frame.fragments], cut.where)


def _size(walk: Walk) -> int:
    ip = walk.origin.packet.ip
    return ip.total_bytes if ip is not None else 0
