"""Only the director may answer ARP for the VIP, or claim it in a request of its own."""

from __future__ import annotations

from lvslab.topology.model import VirtualService
from lvslab.verify.arp import ArpSpeech, arp_speeches
from lvslab.verify.causes.neighbours import claimed_by
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.verify.served import Served

NAME = "arp-owner"


def _matters(evidence: Evidence, service: VirtualService, speech: ArpSpeech) -> bool:
    """Tell a claim on the VIP's network: on another one nobody looks for the VIP there."""
    nodes = {node.name: node for node in evidence.topology.nodes}
    speaker, director = nodes.get(speech.node), nodes[service.director]
    vip_network = next(each.network for each in director.interfaces if each.name == service.vip_device)
    device = speech.where.rpartition(":")[2]
    cards = [each for each in speaker.interfaces if each.name == device] if speaker is not None else []
    return all(card.network == vip_network for card in cards)


def judge(evidence: Evidence, service: VirtualService, _connections: tuple[Served, ...]) -> Result:
    vip, director = str(service.vip), service.director
    statement = Statement(NAME, f"only {director} answers ARP for {vip}, or sends ARP as {vip}")
    if service.vip.version == 6:
        return statement.skipped("IPv6 has no ARP, and an address on lo answers no neighbour solicitation")
    claims = [
        speech for speech in arp_speeches(evidence) if speech.sender_ip == vip and _matters(evidence, service, speech)
    ]
    strangers = [speech for speech in claims if speech.node != director]
    if strangers:
        # An answer decides the matter at once; a claim in a request does so later.
        first = next((speech for speech in strangers if speech.is_answer), strangers[0])
        did = "answered ARP for" if first.is_answer else "sent an ARP request as"
        return statement.failed(
            f"{first.node} {did} {vip}, with the MAC {first.sender_mac}",
            where=first.where,
            frames=[speech.number for speech in strangers if speech.node == first.node],
            cause=claimed_by(first),
        )
    answers = [speech for speech in claims if speech.is_answer]
    if not answers:
        return statement.skipped(f"nobody answered ARP for {vip} while this was recorded, and nobody claimed it")
    seen = f"{count(len(answers), 'answer')}, all from {director} ({answers[0].sender_mac})"
    return statement.passed(seen, [speech.number for speech in answers], answers[0].where)
