"""Why a real server received requests and did not answer."""

from __future__ import annotations

from lvslab.capture.quoted import quoted
from lvslab.topology.model import Method, Node, VirtualService
from lvslab.verify.causes.cause import Cause, facts_of
from lvslab.verify.evidence import Evidence, NodeFacts

TUNNEL_DEVICE = "tunl0"
IP_IN_IP = 4
"""IP protocol number (RFC 2003)."""


def silent_server(evidence: Evidence, service: VirtualService, node: str) -> Cause:
    """A server received requests and sent no reply at all."""
    if service.method is Method.TUN and _refuses_tunnel(evidence, node):
        return _no_tunnel(node, f"no tunnel device of {node} takes the packets: {node} refuses them with an ICMP error")
    facts = facts_of(evidence, node)
    if facts is None:
        return Cause(_silent_checklist(service), "compare with a capture of a server that answers")
    return (
        _method_cause(evidence, service, node, facts)
        or _reverse_path(facts, node, _arrival_device(evidence, service, node))
        or _no_way_back(evidence, node, facts)
        or Cause(_silent_checklist(service), f"on {node}: tcpdump -ni any, ss -ltn, nstat -az")
    )


def _method_cause(evidence: Evidence, service: VirtualService, node: str, facts: NodeFacts) -> Cause | None:
    """What DR and TUN need on a server and NAT does not."""
    if service.method not in (Method.DR, Method.TUN):
        return None
    if service.method is Method.TUN and TUNNEL_DEVICE not in facts.up:
        return _no_tunnel(node, f"{TUNNEL_DEVICE} of {node} is down or missing: nothing unwraps the packets")
    if facts.holder_of(str(service.vip)) is None:
        return Cause(
            f"the VIP {service.vip} is on no device of {node}: {node} takes the packets for somebody else's",
            f"on {node}: ip addr add {service.vip}/{service.vip.max_prefixlen} dev lo",
        )
    return wide_vip_of(evidence, service, node)


def _no_tunnel(node: str, text: str) -> Cause:
    return Cause(text, f"on {node}: modprobe ipip; ip link set {TUNNEL_DEVICE} up")


def _refuses_tunnel(evidence: Evidence, node: str) -> bool:
    """Tell whether a node sent an ICMP error about a wrapped packet (net/ipv4/tunnel4.c: tunnel4_rcv)."""
    errors = (walk.origin for conversation in evidence.walks.conversations for walk in conversation.errors)
    about = (quoted(hop.packet) for hop in errors if hop.node == node)
    return any(original is not None and original.ip.protocol == IP_IN_IP for original in about)


def wide_vip_of(evidence: Evidence, service: VirtualService, node: str) -> Cause | None:
    """Return the cause if a server has the VIP on `lo` with a prefix that covers its neighbours."""
    facts = facts_of(evidence, node)
    held = facts.holder_of(str(service.vip)) if facts else None
    full: int = service.vip.max_prefixlen
    if held is None or held[0] != "lo" or held[1] == full:
        return None
    wide, host = f"{service.vip}/{held[1]}", f"{service.vip}/{full}"
    return Cause(
        f"{node} has {wide} on lo, which makes that whole network local: {node} takes its neighbours' addresses "
        "for its own",
        f"on {node}: ip addr del {wide} dev lo; ip addr add {host} dev lo",
    )


def _arrival_device(evidence: Evidence, service: VirtualService, node: str) -> str:
    if service.method is Method.TUN:
        return TUNNEL_DEVICE
    return evidence.topology.node(node).interfaces[0].name


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


def _no_way_back(evidence: Evidence, node: str, facts: NodeFacts) -> Cause | None:
    if facts.gateways:
        return None
    add = default_route(evidence.topology.node(node))
    return Cause(f"{node} has no default route: it cannot answer the client", f"on {node}: {add}")


def default_route(node: Node) -> str:
    """Return the command that gives a node the default route its place in the topology implies."""
    return f"ip route add default via {node.gateway[0]}" if node.gateway else "ip route add default via …"


def _silent_checklist(service: VirtualService) -> str:
    if service.method is Method.TUN:
        return "likely: the VIP is missing, tunl0 is down, or rp_filter drops what comes out of tunl0"
    if service.method is Method.DR:
        return "likely: the VIP is missing on the server, or the server has no route to the client"
    return "likely: the server has no route to the client, or a packet filter drops its replies"
