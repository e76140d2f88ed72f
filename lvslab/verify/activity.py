"""When a connection counts as active at the director, as its packets there say: what schedulers that count go by.

TCP is active from its first packet until a FIN or RST (net/netfilter/ipvs/ip_vs_proto_tcp.c: tcp_state_active_table).
SCTP is active only while it is established: from the COOKIE ACK, or the COOKIE ECHO where the director does not see
the replies, until a SHUTDOWN or ABORT (ip_vs_proto_sctp.c: sctp_states, set_sctp_state). UDP never is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lvslab.capture import sctp
from lvslab.capture.packet import Sctp, Tcp
from lvslab.topology.model import Method, Protocol
from lvslab.verify.served import Served
from lvslab.walk.model import Walk


class Turn(NamedTuple):
    """The frame in which the director saw a connection become active, or cease to be."""

    frame: int
    active: bool


def active_at_once(protocol: Protocol) -> bool:
    """Return whether a connection counts as active from its first packet on."""
    return protocol is Protocol.TCP


def turns(served: Served) -> tuple[Turn, ...]:
    """Return what became of a connection after its first packet, in order."""
    match served.service.protocol:
        case Protocol.TCP:
            end = min(_tcp_ends(served), default=None)
            return () if end is None else (Turn(end, active=False),)
        case Protocol.SCTP:
            return tuple(_sctp_turns(served))
    return ()


def _tcp_ends(served: Served) -> Iterator[int]:
    """Return the frames in which the director saw the connection end.

    A client's RST ends it only once it was established: before that the kernel does not believe it
    (ip_vs_proto_tcp.c: tcp_states, row rst, state SR).
    """
    established = False
    director = served.service.director
    for number, flags in _flags(served.requests, director):
        if "F" in flags or ("R" in flags and established):
            yield number
        established = established or "." in flags
    for number, flags in _flags(served.replies, director):
        if "F" in flags or "R" in flags:
            yield number


def _flags(walks: Iterable[Walk], director: str) -> Iterator[tuple[int, str]]:
    """Return the TCP flags of packets, each with the frame in which the director first saw it."""
    for walk in walks:
        transport = walk.origin.packet.transport
        hops = walk.at(director)
        if hops and isinstance(transport, Tcp):
            yield hops[0].number, transport.flags


def _sctp_turns(served: Served) -> Iterator[Turn]:
    director = served.service.director
    both_ways = served.chosen is not None and served.chosen.method is Method.NAT
    begins = sctp.COOKIE_ACK if both_ways else sctp.COOKIE_ECHO
    ends = {sctp.SHUTDOWN, sctp.ABORT} if both_ways else {sctp.SHUTDOWN, sctp.SHUTDOWN_ACK, sctp.ABORT}
    seen = sorted((*_events(served.requests, director), *_events(served.replies if both_ways else (), director)))
    active = over = False
    for frame, event in seen:
        if event == begins and not active and not over:
            active = True
            yield Turn(frame, active=True)
        elif event in ends:
            if active:
                yield Turn(frame, active=False)
            active, over = False, over or active


def _events(walks: Iterable[Walk], director: str) -> Iterator[tuple[int, int]]:
    """Return the type of the chunk that IPVS goes by, each with the frame in which the director first saw it.

    It is the first, unless an ABORT follows a cookie (ip_vs_proto_sctp.c: set_sctp_state).
    """
    for walk in walks:
        transport = walk.origin.packet.transport
        hops = walk.at(director)
        if hops and isinstance(transport, Sctp) and transport.chunks:
            first, *others = (chunk.type for chunk in transport.chunks)
            cookie = first in (sctp.COOKIE_ECHO, sctp.COOKIE_ACK)
            yield hops[0].number, sctp.ABORT if cookie and others[:1] == [sctp.ABORT] else first
