"""What the first packets of a connection look like on their way: fields of headers, nodes, and who answers ARP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Literal

from pydantic import Field

from lvslab.capture.frame import Direction
from lvslab.labs.node_names import NodeName
from lvslab.labs.registry import Observed, observation
from lvslab.labs.view import View
from lvslab.labs.words import frame_at, words
from lvslab.topology.document import Entry
from lvslab.verify.arp import arp_speeches
from lvslab.verify.others import is_of_others
from lvslab.walk.model import Hop, Step, Walk
from lvslab.walk.select import connections

Packets = Literal["request", "reply", "error"]
"""Of a connection: what its client sent, what came back, ICMP errors about it."""


def first_walks(view: View, packet: Packets, number: int | None, vip: str | None = None) -> Iterator[Walk]:
    """Yield the first packet of this kind of each connection, or of the one of this number (from 1).

    What earlier connections still had to send is passed over.
    """
    evidence = view.examination_of(vip).evidence
    own = (each for each in connections(evidence.walks) if not is_of_others(evidence, each))
    for place, connection in enumerate(own, start=1):
        walks = {"request": connection.requests, "reply": connection.replies, "error": connection.errors}[packet]
        if walks and number in (None, place):
            yield walks[0]


class HeaderField(Entry):
    """A header field of the first request, reply or ICMP error, at one place on its way."""

    packet: Packets = "request"
    connection: int | None = Field(default=None, description="which one, from 1; default: the first that is seen there")
    vip: str | None = Field(default=None, description="only the services of this VIP are called")
    node: NodeName
    direction: Literal["in", "out"]
    field: str = Field(description="source-mac, destination-mac, …-owner, source, destination, ports, ttl, outer-…")


def _mac(end: str) -> Callable[[View, Hop], str | None]:
    return lambda _view, hop: getattr(hop.packet.ethernet, end) if hop.packet.ethernet else None


def _owner(end: str) -> Callable[[View, Hop], str | None]:
    def read(view: View, hop: Hop) -> str | None:
        return view.owner_of_mac(getattr(hop.packet.ethernet, end)) if hop.packet.ethernet else None

    return read


def _address(end: str) -> Callable[[View, Hop], str | None]:
    return lambda _view, hop: getattr(hop.packet.ip, end) if hop.packet.ip else None


def _port(end: int) -> Callable[[View, Hop], str | None]:
    return lambda _view, hop: str(hop.packet.ports[end]) if hop.packet.ports else None


def _outer(end: str) -> Callable[[View, Hop], str | None]:
    return lambda _view, hop: getattr(hop.packet.tunnels[0].ip, end) if hop.packet.tunnels else None


FIELDS: Mapping[str, Callable[[View, Hop], str | None]] = {
    "source-mac": _mac("source"),
    "destination-mac": _mac("destination"),
    "source-mac-owner": _owner("source"),
    "destination-mac-owner": _owner("destination"),
    "source": _address("source"),
    "destination": _address("destination"),
    "source-port": _port(0),
    "destination-port": _port(1),
    "ttl": lambda _view, hop: str(hop.packet.ip.ttl) if hop.packet.ip else None,
    "bytes": lambda _view, hop: str(hop.frame.wire_bytes),
    "outer-source": _outer("source"),
    "outer-destination": _outer("destination"),
}


def _reader(name: str) -> Callable[[View, Hop], str | None]:
    if name not in FIELDS:
        raise LookupError(f"no field {name}; there are {', '.join(FIELDS)}")
    return FIELDS[name]


@observation("field", HeaderField)
def field(view: View, wanted: HeaderField) -> Observed | None:
    read = _reader(wanted.field)
    walks = first_walks(view, wanted.packet, wanted.connection, wanted.vip)
    hops = chain.from_iterable(walk.at(wanted.node) for walk in walks)
    for hop in (hop for hop in hops if hop.direction is Direction(wanted.direction)):
        value = read(view, hop)
        if value is not None:
            seen = frame_at(hop.number, hop.where)
            return Observed(value, seen, hop.where, (hop.number,))
    return None


class Path(Entry):
    """The nodes that the first request or reply comes through, in order."""

    packet: Packets = "request"
    connection: int = 1
    vip: str | None = None


@observation("path", Path)
def path(view: View, wanted: Path) -> Observed | None:
    walk = next(first_walks(view, wanted.packet, wanted.connection, wanted.vip), None)
    if walk is None:
        return None
    seen = words("frames {first} to {last}", "第 {first} 帧到第 {last} 帧", first=walk.frames[0], last=walk.frames[-1])
    return Observed(" ".join(walk.nodes), seen, walk.nodes[-1], walk.frames)


class Rewriters(Entry):
    """The nodes that change a header field of the first request or reply on its way, in order."""

    packet: Packets = "request"
    connection: int = 1
    field: str = Field(description="as in `field`")


@observation("rewriters", Rewriters)
def rewriters(view: View, wanted: Rewriters) -> Observed | None:
    read = _reader(wanted.field)
    walk = next(first_walks(view, wanted.packet, wanted.connection), None)
    if walk is None:
        return None
    changed = [
        hop
        for hop in walk.hops
        if hop.step is Step.FORWARDED and (before := walk.before(hop)) and read(view, before) != read(view, hop)
    ]
    seen = words("{field} changes", "{field} 发生变化", field=wanted.field)
    where = changed[0].where if changed else walk.hops[-1].where
    nodes = " ".join(hop.node for hop in changed) or "nobody"
    return Observed(nodes, seen, where, tuple(hop.number for hop in changed))


class LastSeen(Entry):
    """Where the first request or reply was seen last."""

    packet: Packets = "request"
    connection: int = 1
    part: Literal["node", "device"]


@observation("last-seen", LastSeen)
def last_seen(view: View, wanted: LastSeen) -> Observed | None:
    walk = next(first_walks(view, wanted.packet, wanted.connection), None)
    if walk is None:
        return None
    hop = walk.hops[-1]
    value = hop.node if wanted.part == "node" else hop.interface
    seen = frame_at(hop.number, hop.where)
    return Observed(value, seen, hop.where, (hop.number,))


class ArpOwner(Entry):
    """The nodes that answer ARP for an address, or claim it, in the order they do so."""

    address: str


@observation("arp-owner", ArpOwner)
def arp_owner(view: View, wanted: ArpOwner) -> Observed | None:
    answers = [
        speech
        for speech in arp_speeches(view.examination.evidence)
        if speech.is_answer and speech.sender_ip == wanted.address
    ]
    if not answers:
        return None
    owners = " ".join(dict.fromkeys(speech.node for speech in answers))
    seen = frame_at(answers[0].number, answers[0].where)
    return Observed(owners, seen, answers[0].where, tuple(speech.number for speech in answers))
