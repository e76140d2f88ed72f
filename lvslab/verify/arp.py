"""Who says what in ARP (RFC 826): every ARP frame at the moment its sender let it go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lvslab.capture.frame import Direction
from lvslab.capture.packet import Arp
from lvslab.verify.evidence import Evidence
from lvslab.verify.macs import mac_owners
from lvslab.walk.model import Hop

REPLY = 2


@dataclass(frozen=True, slots=True)
class ArpSpeech:
    """One ARP frame as sent. Its sender fields are a claim, in an answer and in a request alike."""

    node: str
    """Who sent it; the sender's MAC where no node was seen to."""
    where: str
    number: int
    is_answer: bool
    sender_mac: str
    sender_ip: str
    target_ip: str


def arp_speeches(evidence: Evidence) -> tuple[ArpSpeech, ...]:
    """Return all ARP frames in order of time, each once."""
    return tuple(sorted(_speeches(evidence), key=lambda speech: speech.number))


def _speeches(evidence: Evidence) -> Iterator[ArpSpeech]:
    owners = mac_owners(evidence)
    tracks = [walk.hops for walk in evidence.walks.walks] + [rest.hops for rest in evidence.walks.unmatched]
    for first in (hops[0] for hops in tracks if hops):
        arp = first.packet.arp
        if arp is not None:
            # What was received without having been seen to leave is from a node that was not captured.
            sent = first.direction is Direction.OUT
            yield _speech(first.node if sent else owners.get(arp.sender_mac, arp.sender_mac), first, arp)


def _speech(node: str, hop: Hop, arp: Arp) -> ArpSpeech:
    return ArpSpeech(node, hop.where, hop.number, arp.operation == REPLY, arp.sender_mac, arp.sender_ip, arp.target_ip)
