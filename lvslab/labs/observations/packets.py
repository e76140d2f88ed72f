"""What the first packets of a connection look like on their way: fields of headers, nodes, and who answers ARP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import Field

from lvslab.capture.frame import Direction
from lvslab.labs.registry import Observed, observation
from lvslab.labs.view import View
from lvslab.labs.words import words
from lvslab.topology.document import Entry
from lvslab.verify.arp import arp_speeches
from lvslab.walk.model import Hop, Walk
from lvslab.walk.select import connections

Packets = Literal["request", "reply"]


def first_walk(view: View, packet: Packets, number: int = 1) -> Walk | None:
    """Return the first packet of the connection of this number, or of its answer; None if it was not seen."""
    found = connections(view.examination.evidence.walks)
    if len(found) < number:
        return None
    walks = found[number - 1].requests if packet == "request" else found[number - 1].replies
    return walks[0] if walks else None


class HeaderField(Entry):
    """A header field of the first request or reply, at one place on its way."""

    packet: Packets = "request"
    connection: int = Field(default=1, description="which connection of the standard traffic, from 1")
    node: str
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


@observation("field", HeaderField)
def field(view: View, wanted: HeaderField) -> Observed | None:
    if wanted.field not in FIELDS:
        raise LookupError(f"no field {wanted.field}; there are {', '.join(FIELDS)}")
    walk = first_walk(view, wanted.packet, wanted.connection)
    hops = [hop for hop in walk.at(wanted.node) if hop.direction is Direction(wanted.direction)] if walk else []
    for hop in hops:
        value = FIELDS[wanted.field](view, hop)
        if value is not None:
            seen = words("frame {number} at {where}", "第 {number} 帧，在 {where}", number=hop.number, where=hop.where)
            return Observed(value, seen, hop.where, (hop.number,))
    return None


class Path(Entry):
    """The nodes that the first request or reply comes through, in order."""

    packet: Packets = "request"
    connection: int = 1


@observation("path", Path)
def path(view: View, wanted: Path) -> Observed | None:
    walk = first_walk(view, wanted.packet, wanted.connection)
    if walk is None:
        return None
    seen = words("frames {first} to {last}", "第 {first} 帧到第 {last} 帧", first=walk.frames[0], last=walk.frames[-1])
    return Observed(" ".join(walk.nodes), seen, walk.nodes[-1], walk.frames)


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
    seen = words(
        "frame {number} at {where}", "第 {number} 帧，在 {where}", number=answers[0].number, where=answers[0].where
    )
    return Observed(owners, seen, answers[0].where, tuple(speech.number for speech in answers))
