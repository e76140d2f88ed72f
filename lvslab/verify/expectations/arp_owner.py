"""Only the director may answer ARP for the VIP, or claim it in a request of its own; or else nobody may ask."""

from __future__ import annotations

from lvslab.topology.model import ArpCure, VirtualService
from lvslab.topology.vips import vip_askers
from lvslab.verify.arp import ArpSpeech, arp_speeches
from lvslab.verify.causes.neighbours import claimed_by, has_to_ask
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


def vip_claims(evidence: Evidence, service: VirtualService) -> list[ArpSpeech]:
    """Return who claimed the VIP on its network, in answers and in requests, in order of time."""
    vip = str(service.vip)
    return [each for each in arp_speeches(evidence) if each.sender_ip == vip and _matters(evidence, service, each)]


def judge(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    vip, director = str(service.vip), service.director
    statement = Statement(NAME, f"only {director} answers ARP for {vip}, or sends ARP as {vip}")
    if service.vip.version == 6:
        return statement.skipped("IPv6 has no ARP, and an address on lo answers no neighbour solicitation")
    if service.arp_cure is ArpCure.NEIGHBOUR:
        return _never_asked(evidence, service, connections)
    claims = vip_claims(evidence, service)
    strangers = [speech for speech in claims if speech.node != director]
    if strangers:
        # An answer decides the matter at once; a claim in a request does so later.
        first = next((speech for speech in strangers if speech.is_answer), strangers[0])
        did = "answered ARP for" if first.is_answer else "sent an ARP request as"
        return statement.failed(
            f"{first.node} {did} {vip}, with the MAC {first.sender_mac}",
            where=first.where,
            frames=[speech.number for speech in strangers if speech.node == first.node],
            cause=claimed_by(service, first),
        )
    answers = [speech for speech in claims if speech.is_answer]
    if not answers:
        return statement.skipped(f"nobody answered ARP for {vip} while this was recorded, and nobody claimed it")
    seen = f"{count(len(answers), 'answer')}, all from {director} ({answers[0].sender_mac})"
    return statement.passed(seen, [speech.number for speech in answers], answers[0].where)


def _never_asked(evidence: Evidence, service: VirtualService, connections: tuple[Served, ...]) -> Result:
    """Judge the cure by neighbour entries: servers would answer, so whoever sends to the VIP must not ask."""
    vip = str(service.vip)
    askers = vip_askers(evidence.topology, service.vip)
    statement = Statement(NAME, f"{', '.join(askers)} never asks by ARP for {vip}: the entry was made by hand")
    questions = [
        speech
        for speech in arp_speeches(evidence)
        if speech.target_ip == vip and not speech.is_answer and speech.node in askers
    ]
    if questions:
        first = questions[0]
        return statement.failed(
            f"{first.node} asked who has {vip}",
            where=first.where,
            frames=[speech.number for speech in questions],
            cause=has_to_ask(evidence, service, first.node),
        )
    if not connections:
        return statement.skipped(f"nothing was sent to {vip}")
    return statement.passed(f"{count(len(connections), 'connection')} to {vip}, and nobody asked")
