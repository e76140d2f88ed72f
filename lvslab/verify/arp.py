"""Who says what in ARP (RFC 826): every ARP frame at the moment its sender let it go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lvslab.capture.frame import Direction
from lvslab.verify.evidence import Evidence
from lvslab.walk.model import Hop

REPLY = 2


@dataclass(frozen=True, slots=True)
class ArpSpeech:
    """One ARP frame as sent. Its sender fields are a claim, in an answer and in a request alike."""

    node: str
    where: str
    number: int
    is_answer: bool
    sender_mac: str
    sender_ip: str
    target_ip: str


def arp_speeches(evidence: Evidence) -> tuple[ArpSpeech, ...]:
    """Return all ARP frames sent, in order of time; a frame forwarded by no one leaves its node once."""
    return tuple(sorted(_speeches(evidence), key=lambda speech: speech.number))


def _speeches(evidence: Evidence) -> Iterator[ArpSpeech]:
    hop_groups = [walk.hops for walk in evidence.walks.walks] + [rest.hops for rest in evidence.walks.unmatched]
    for hops in hop_groups:
        for hop in hops:
            if hop.packet.arp is not None and hop.direction is Direction.OUT:
                yield _speech(hop)


def _speech(hop: Hop) -> ArpSpeech:
    arp = hop.packet.arp
    if arp is None:
        raise ValueError(f"frame {hop.number} is not ARP")
    return ArpSpeech(
        hop.node, hop.where, hop.number, arp.operation == REPLY, arp.sender_mac, arp.sender_ip, arp.target_ip
    )
