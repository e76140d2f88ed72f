"""The ARP problem: who claims the VIP, and what makes it."""

from __future__ import annotations

from lvslab.topology.model import ArpCure, VirtualService
from lvslab.topology.reach import interface_facing
from lvslab.topology.vips import vip_askers
from lvslab.verify.arp import ArpSpeech, arp_speeches
from lvslab.verify.causes.cause import Cause, facts_of
from lvslab.verify.evidence import Evidence


def claimed_by(service: VirtualService, speech: ArpSpeech) -> Cause:
    """Somebody else than the director claimed the VIP."""
    if service.arp_cure is ArpCure.ARPTABLES:
        return _passes_filter(speech)
    return _answers(speech) if speech.is_answer else _announces(speech)


def has_to_ask(evidence: Evidence, service: VirtualService, asker: str) -> Cause:
    """Who sends to the VIP has to ask whose it is, and every server that holds it answers."""
    topology, vip = evidence.topology, service.vip
    mac = next(each.mac for each in topology.node(service.director).interfaces if each.name == service.vip_device)
    facing = interface_facing(topology.node(asker), vip)
    device = facing.name if facing else "DEVICE"
    return Cause(
        f"{asker} has no permanent neighbour entry for {vip}, and every node that holds {vip} answers",
        f"on {asker}: ip neigh replace {vip} lladdr {mac} dev {device} nud permanent",
    )


def _passes_filter(speech: ArpSpeech) -> Cause:
    vip, node = speech.sender_ip, speech.node
    if speech.is_answer:
        return Cause(
            f"{node} holds {vip} and hears who asks for it: arptables on {node} does not drop the requests",
            f"on {node}: arptables-legacy -A INPUT -d {vip} -j DROP",
        )
    return Cause(
        f"{node} sends ARP requests as {vip}: arptables on {node} does not put its own address there",
        f"on {node}: arptables-legacy -A OUTPUT -s {vip} -j mangle --mangle-ip-s ADDRESS-OF-{node}",
    )


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
    askers = vip_askers(evidence.topology, service.vip)
    if service.arp_cure is ArpCure.NEIGHBOUR:
        asked = [each.node for each in arp_speeches(evidence) if each.target_ip == vip and each.node in askers]
        if asked:
            return has_to_ask(evidence, service, asked[0])
    spoke = [speech for speech in arp_speeches(evidence) if speech.sender_ip == vip and speech.node == node]
    if spoke:
        return claimed_by(service, next((speech for speech in spoke if speech.is_answer), spoke[0]))
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
