"""Likely causes: what explains a failure, from the capture and, where the lab was asked, from the nodes' own state.

Each function looks at one kind of failure, most specific explanation first. Without facts (a stored capture)
it names what to check.
"""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.topology.model import Destination, Method, Node, VirtualService
from lvslab.verify.arp import ArpSpeech, arp_speeches
from lvslab.verify.evidence import Evidence, NodeFacts
from lvslab.walk.model import Hop

TUNNEL_DEVICE = "tunl0"


@dataclass(frozen=True, slots=True)
class Cause:
    """What probably went wrong, and what to do next."""

    text: str
    next: str


UNKNOWN = Cause("", "")


def answers_arp(node: str, vip: str) -> Cause:
    """A real server answered ARP for the VIP."""
    return Cause(
        f"{node} holds {vip} and answers ARP for it: arp_ignore is not in force on {node}",
        f"on {node}: sysctl -w net.ipv4.conf.all.arp_ignore=1 (setting it on lo alone has no effect)",
    )


def announces_vip(node: str, vip: str) -> Cause:
    """A real server used the VIP as the sender of its own ARP request, which teaches others its MAC."""
    return Cause(
        f"{node} asks with {vip} as its own address: arp_announce is not in force on {node}",
        f"on {node}: sysctl -w net.ipv4.conf.all.arp_announce=2",
    )


def bypassed(evidence: Evidence, service: VirtualService, node: str) -> Cause:
    """A request reached a server without passing the director."""
    vip = str(service.vip)
    spoke = [speech for speech in arp_speeches(evidence) if speech.sender_ip == vip and speech.node == node]
    if any(speech.is_answer for speech in spoke):
        return answers_arp(node, vip)
    if spoke:
        return announces_vip(node, vip)
    return Cause(f"somebody's neighbour table has {node}'s MAC for {vip}", "look for ARP frames that claim the VIP")


def not_delivered_to_director(evidence: Evidence, service: VirtualService) -> Cause:
    """The client's packets never reached the director."""
    vip = str(service.vip)
    asked = [s for s in arp_speeches(evidence) if not s.is_answer and s.target_ip == vip]
    answered = [s for s in arp_speeches(evidence) if s.is_answer and s.sender_ip == vip]
    if asked and not answered:
        return Cause(
            f"nobody answers ARP for {vip}: the VIP is on no device of {service.director}",
            f"on {service.director}: ip addr add {vip}/{service.vip.max_prefixlen} dev {service.vip_device}",
        )
    return Cause("no route leads from the client to the VIP", "look at the default routes of client and router")


def not_forwarded(evidence: Evidence, service: VirtualService) -> Cause:
    """The director took a request in and sent nothing on."""
    mute = _unanswered_by(evidence, service)
    if mute is not None:
        return _mute_server(evidence, service, mute)
    facts = _facts(evidence, service.director)
    if facts is not None and facts.holder_of(str(service.vip)) is None:
        return Cause(
            f"the VIP is on no device of {service.director}: the packet never reaches IPVS",
            f"on {service.director}: ip addr add {service.vip}/{service.vip.max_prefixlen} dev {service.vip_device}",
        )
    return Cause(
        f"{service.director} had no server to give it to, or a packet filter dropped it",
        f"on {service.director}: ipvsadm -Ln (weights, thresholds), iptables -S",
    )


def _unanswered_by(evidence: Evidence, service: VirtualService) -> Destination | None:
    """Return a server that the director asked for by ARP in vain."""
    speeches = arp_speeches(evidence)
    for destination in service.destinations:
        address = str(destination.address)
        asked = any(s.node == service.director and not s.is_answer and s.target_ip == address for s in speeches)
        answered = any(s.is_answer and s.sender_ip == address for s in speeches)
        if asked and not answered:
            return destination
    return None


def _mute_server(evidence: Evidence, service: VirtualService, destination: Destination) -> Cause:
    node, vip = destination.node, str(service.vip)
    facts = _facts(evidence, node)
    held = facts.holder_of(vip) if facts else None
    if held and held[0] == "lo" and held[1] < service.vip.max_prefixlen:
        return wide_vip(node, vip, held[1], service.vip.max_prefixlen)
    return Cause(
        f"{node} does not answer the director's ARP requests for {destination.address}",
        f"is {node} up, is {destination.address} on its interface, is the VIP there as a host address?",
    )


def wide_vip(node: str, vip: str, prefix: int, full: int) -> Cause:
    return Cause(
        f"{node} has {vip}/{prefix} on lo, which makes the whole network local to it: "
        "it takes its neighbours' addresses for its own",
        f"on {node}: ip addr del {vip}/{prefix} dev lo; ip addr add {vip}/{full} dev lo",
    )


def silent_server(evidence: Evidence, service: VirtualService, node: str) -> Cause:
    """A server received requests and sent no reply at all."""
    vip, full = str(service.vip), service.vip.max_prefixlen
    facts = _facts(evidence, node)
    if facts is None:
        return Cause(_silent_checklist(service), "compare with a capture of a server that answers")
    if service.method in (Method.DR, Method.TUN):
        held = facts.holder_of(vip)
        if service.method is Method.TUN and TUNNEL_DEVICE not in facts.up:
            return Cause(
                f"{TUNNEL_DEVICE} of {node} is down or missing: nothing unwraps the packets",
                f"on {node}: modprobe ipip; ip link set {TUNNEL_DEVICE} up",
            )
        if held is None:
            return Cause(
                f"the VIP {vip} is on no device of {node}: it takes the packets for somebody else's",
                f"on {node}: ip addr add {vip}/{full} dev lo",
            )
        if held[0] == "lo" and held[1] < full:
            return wide_vip(node, vip, held[1], full)
    filtered = _reverse_path(facts, node, TUNNEL_DEVICE if service.method is Method.TUN else "eth0")
    if filtered is not None:
        return filtered
    if not facts.gateways:
        return Cause(f"{node} has no default route: it cannot answer the client", f"on {node}: ip route add default …")
    return Cause(_silent_checklist(service), f"on {node}: tcpdump -ni any, ss -ltn, nstat -az")


def _silent_checklist(service: VirtualService) -> str:
    if service.method is Method.TUN:
        return "likely: the VIP is missing, tunl0 is down, or rp_filter drops what comes out of tunl0"
    if service.method is Method.DR:
        return "likely: the VIP is missing on the server, or the server has no route to the client"
    return "likely: the server has no route to the client, or a packet filter drops its replies"


def _reverse_path(facts: NodeFacts, node: str, device: str) -> Cause | None:
    """The kernel uses the larger of `all` and the device's own value (ip-sysctl.rst: rp_filter)."""
    values = {scope: facts.sysctls.get(f"net.ipv4.conf.{scope}.rp_filter", "0") for scope in ("all", device)}
    dropped = facts.counters.get("IPReversePathFilter", 0)
    if max(values.values()) == "0" or not dropped:
        return None
    set_to = ", ".join(f"{scope} is {value}" for scope, value in values.items())
    return Cause(
        f"rp_filter on {node} dropped {dropped} packets ({set_to}): "
        f"they come in on {device}, but the way back to the client leads through another device",
        f"on {node}: sysctl -w net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.{device}.rp_filter=0",
    )


def reply_off_path(evidence: Evidence, service: VirtualService, node: str, next_node: str) -> Cause:
    """A NAT server's reply left by another way than the director."""
    director = evidence.topology.node(service.director)
    wanted = " or ".join(str(address) for address in _shared_addresses(director, evidence.topology.node(node)))
    facts = _facts(evidence, node)
    has = f" (it has {', '.join(facts.gateways)})" if facts and facts.gateways else ""
    return Cause(
        f"the default gateway of {node} is not the director{has}: replies go by {next_node} with the server's own "
        "address, which the client never asked",
        f"on {node}: ip route replace default via {wanted}",
    )


def _shared_addresses(director: Node, server: Node) -> list[object]:
    networks = {interface.network for interface in server.interfaces}
    return [
        address.ip
        for interface in director.interfaces
        if interface.network in networks
        for address in interface.addresses
    ]


def reply_kept(evidence: Evidence, service: VirtualService) -> Cause:
    """A NAT reply reached the director and went no further."""
    facts = _facts(evidence, service.director)
    key = "net.ipv4.ip_forward"
    if facts is None or facts.sysctls.get(key) == "0":
        sure = "" if facts else "likely: "
        return Cause(
            f"{sure}ip_forward is 0 on {service.director}: it does not forward the servers' replies",
            f"on {service.director}: sysctl -w {key}=1",
        )
    return Cause(f"a packet filter of {service.director} drops forwarded packets", "iptables -S FORWARD")


def reply_lost(evidence: Evidence, service: VirtualService, end: Hop) -> Cause:
    """A reply came as far as `end` and no further."""
    facts = _facts(evidence, end.node)
    if facts is not None and facts.sysctls.get("net.ipv4.ip_forward") == "0":
        return Cause(f"ip_forward is 0 on {end.node}", f"on {end.node}: sysctl -w net.ipv4.ip_forward=1")
    return Cause(f"{end.node} has no way to the client, or takes {service.vip} for its own", f"ip route on {end.node}")


def refused(evidence: Evidence, service: VirtualService, node: str, port: int) -> Cause:
    """Somebody answered a SYN with a reset."""
    if node == service.director:
        return Cause(
            f"{node} refused: no server of {service.vip}:{service.port} may take a connection",
            f"on {node}: ipvsadm -Ln (is every weight 0, or every server over its threshold?)",
        )
    facts = _facts(evidence, node)
    sure = "" if facts and (service.protocol.value, port) not in facts.listening else "likely: "
    return Cause(f"{sure}nothing listens on port {port} of {node}", f"start the server on {node}: ss -ltnp shows it")


def spoken_by(speech: ArpSpeech) -> Cause:
    return (
        answers_arp(speech.node, speech.sender_ip) if speech.is_answer else announces_vip(speech.node, speech.sender_ip)
    )


def _facts(evidence: Evidence, node: str) -> NodeFacts | None:
    return None if evidence.facts is None else evidence.facts.get(node)
