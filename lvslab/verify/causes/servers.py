"""Why a real server received requests and did not answer."""

from __future__ import annotations

from lvslab.capture.quoted import Quoted, quoted
from lvslab.topology.model import Method, Node, TunnelChecksum, TunnelKind, VirtualService
from lvslab.topology.tunnels import GUE_PORT, IP6TNL, tunnel_device
from lvslab.verify.causes.cause import Cause, facts_of
from lvslab.verify.evidence import Evidence, NodeFacts

TUNNELS = frozenset({4, 41, 47})
"""IP protocol numbers of IPv4 and IPv6 in IP, and of GRE (RFC 2003, RFC 2473, RFC 2784)."""
BRING_UP = {
    "tunl0": "modprobe ipip; ip link set tunl0 up",
    "gre0": "modprobe ip_gre; ip link set gre0 up",
    IP6TNL: f"ip link add {IP6TNL} type ip6tnl mode any local …; ip link set {IP6TNL} up",
}
"""By tunnel device."""


def silent_server(evidence: Evidence, service: VirtualService, node: str) -> Cause:
    """A server received requests and sent no reply at all."""
    if service.method is Method.TUN and _refuses_tunnel(evidence, node):
        refused = f"no tunnel device of {node} takes the packets: {node} refuses them with an ICMP error"
        return _no_tunnel(service, node, refused)
    if _has_gre_checksum(service, node):
        return Cause(
            f"gre0 of {node} takes no packets with a checksum, and drops them without a word",
            f"on {service.director}: ipvsadm -e … --tun-type gre --tun-nocsum",
        )
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
    device = _tunnel_device(service, node)
    if device is not None and device not in facts.up:
        return _no_tunnel(service, node, f"{device} of {node} is down or missing: nothing unwraps the packets")
    if facts.holder_of(str(service.vip)) is None:
        return Cause(
            f"the VIP {service.vip} is on no device of {node}: {node} takes the packets for somebody else's",
            f"on {node}: ip addr add {service.vip}/{service.vip.max_prefixlen} dev lo",
        )
    return wide_vip_of(evidence, service, node)


def _no_tunnel(service: VirtualService, node: str, text: str) -> Cause:
    gue = any(item.tunnel.kind is TunnelKind.GUE for item in service.destinations if item.node == node)
    port = f"; ip fou add port {GUE_PORT} gue" if gue else ""
    return Cause(text, f"on {node}: {BRING_UP[_tunnel_device(service, node) or 'tunl0']}{port}")


def _has_gre_checksum(service: VirtualService, node: str) -> bool:
    """Tell what the device refuses (net/ipv4/ip_tunnel.c: ip_tunnel_rcv): both sides must agree on the checksum."""
    tunnels = [item.tunnel for item in service.destinations if item.node == node]
    return any(each.kind is TunnelKind.GRE and each.checksum is TunnelChecksum.PRESENT for each in tunnels)


def _tunnel_device(service: VirtualService, node: str) -> str | None:
    """Return the device of a server that unwraps what the service sends it."""
    tunnelled = (item for item in service.destinations if item.node == node and item.method is Method.TUN)
    return next((tunnel_device(item) for item in tunnelled), None)


def _refuses_tunnel(evidence: Evidence, node: str) -> bool:
    """Tell whether a node sent an ICMP error about a wrapped packet (net/ipv4/tunnel4.c: tunnel4_rcv)."""
    errors = (walk.origin for conversation in evidence.walks.conversations for walk in conversation.errors)
    about = (quoted(hop.packet) for hop in errors if hop.node == node)
    return any(original is not None and _is_tunnelled(original) for original in about)


def _is_tunnelled(original: Quoted) -> bool:
    return original.ip.protocol in TUNNELS or (original.ports is not None and original.ports[1] == GUE_PORT)


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
    return _tunnel_device(service, node) or evidence.topology.node(node).interfaces[0].name


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
        return "likely: the VIP is missing, the tunnel device is down, or rp_filter drops what comes out of it"
    if service.method is Method.DR:
        return "likely: the VIP is missing on the server, or the server has no route to the client"
    return "likely: the server has no route to the client, or a packet filter drops its replies"
