"""The ARP problem: who claims the VIP, and what makes it."""

from __future__ import annotations

from lvslab.topology.model import VirtualService
from lvslab.verify.arp import ArpSpeech, arp_speeches
from lvslab.verify.causes.cause import Cause, facts_of
from lvslab.verify.evidence import Evidence


def claimed_by(speech: ArpSpeech) -> Cause:
    """Somebody else than the director claimed the VIP."""
    return _answers(speech) if speech.is_answer else _announces(speech)


def _answers(speech: ArpSpeech) -> Cause:
    return Cause(
        f"{speech.node} holds {speech.sender_ip} and answers ARP for it: arp_ignore is not in force on {speech.node}",
        f"on {speech.node}: sysctl -w net.ipv4.conf.all.arp_ignore=1 (on lo alone it has no effect)",
    )


def _announces(speech: ArpSpeech) -> Cause:
    return Cause(
        f"{speech.node} sends ARP requests as {speech.sender_ip}, and whoever it asks learns its MAC for that "
        f"address: arp_announce is not in force on {speech.node}",
        f"on {speech.node}: sysctl -w net.ipv4.conf.all.arp_announce=2",
    )


def bypassed(evidence: Evidence, service: VirtualService, node: str) -> Cause:
    """A request reached a server without passing the director."""
    vip = str(service.vip)
    spoke = [speech for speech in arp_speeches(evidence) if speech.sender_ip == vip and speech.node == node]
    if spoke:
        return claimed_by(next((speech for speech in spoke if speech.is_answer), spoke[0]))
    return Cause(
        f"whoever sent it has the MAC of {node} for {vip}, and the capture does not show from where",
        f"ip neigh on the sender, and ip neigh flush to {vip}",
    )


def nobody_answers(evidence: Evidence, service: VirtualService) -> Cause | None:
    """Return the cause if the VIP was asked for by ARP in vain."""
    vip, director = str(service.vip), service.director
    speeches = arp_speeches(evidence)
    asked = any(speech.target_ip == vip and not speech.is_answer for speech in speeches)
    if not asked or any(speech.sender_ip == vip and speech.is_answer for speech in speeches):
        return None
    facts = facts_of(evidence, director)
    if facts is not None and facts.holder_of(vip) is not None:
        return Cause(
            f"nobody answers ARP for {vip}, though {director} has it", f"on {director}: ip -d addr, arptables -L"
        )
    return Cause(
        f"nobody answers ARP for {vip}: the VIP is on no device of {director}",
        f"on {director}: ip addr add {vip}/{service.vip.max_prefixlen} dev {service.vip_device}",
    )
