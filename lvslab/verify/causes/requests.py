"""Why a request did not come to the director, or from there to a server."""

from __future__ import annotations

from lvslab.ipvs.intent import entry_of
from lvslab.ipvs.model import DestinationEntry
from lvslab.topology.model import Destination, VirtualService
from lvslab.traffic.outcome import Outcome
from lvslab.verify.arp import arp_speeches
from lvslab.verify.causes.cause import UNKNOWN, Cause, does_not_forward, facts_of
from lvslab.verify.causes.neighbours import nobody_answers
from lvslab.verify.causes.servers import default_route, wide_vip_of
from lvslab.verify.evidence import Evidence
from lvslab.walk.model import Hop

UNREACHABLE = "ENETUNREACH"


def never_sent(evidence: Evidence, service: VirtualService, calls: tuple[Outcome, ...]) -> Cause:
    """The client's kernel sent no packet at all."""
    unanswered = nobody_answers(evidence, service)
    if unanswered is not None:
        return unanswered
    lost = next((call for call in calls if call.status == UNREACHABLE), None)
    if lost is not None:
        add = default_route(evidence.topology.node(lost.client))
        return Cause(f"{lost.client} has no route to {service.vip}", f"on {lost.client}: {add}")
    return UNKNOWN


def stopped_at(evidence: Evidence, service: VirtualService, node: str) -> Cause:
    """A request came as far as `node`, on its way to the director."""
    return (
        nobody_answers(evidence, service)
        or does_not_forward(evidence, node)
        or Cause(f"no route leads from {node} to {service.vip}, or a packet filter drops it", f"ip route on {node}")
    )


def not_forwarded(evidence: Evidence, service: VirtualService) -> Cause:
    """The director took a request in and sent nothing on."""
    mute = _unanswered_by(evidence, service)
    if mute is not None:
        return _mute_server(evidence, service, mute)
    director, vip = service.director, str(service.vip)
    facts = facts_of(evidence, director)
    if facts is not None and facts.holder_of(vip) is None:
        return Cause(
            f"the VIP is on no device of {director}: the packet never reaches IPVS",
            f"on {director}: ip addr add {vip}/{service.vip.max_prefixlen} dev {service.vip_device}",
        )
    return nobody_to_take_it(evidence, service) or Cause(
        f"{director} had no server to give it to, or a packet filter dropped it",
        f"on {director}: ipvsadm -Ln (weights, thresholds), iptables -S",
    )


def nobody_to_take_it(evidence: Evidence, service: VirtualService) -> Cause | None:
    """Return the cause if no server of the service could be given a connection (ipvsadm(8): -w, -x)."""
    director = service.director
    entries = _entries(evidence, service)
    if entries is not None and not entries:
        what = f"{service.vip}:{service.port}" if service.mark is None else f"firewall mark {service.mark}"
        return Cause(
            f"the table of {director} has no server for {what}, or not even the service",
            f"on {director}: ipvsadm -Ln, then ipvsadm -A and -a",
        )
    if entries is None:
        weights = [destination.weight for destination in service.destinations]
    else:
        weights = [entry.destination.weight for entry in entries]
    if not any(weights):
        return Cause(
            f"no server of {service.vip}:{service.port} has a weight above 0: {director} refuses every new connection",
            f"on {director}: ipvsadm -Ln, then ipvsadm -e … -w 1 for a server that may take connections",
        )
    if entries is not None and all(map(_full, entries)):
        return Cause(
            "every server of the service holds as many connections as its upper threshold allows",
            f"on {director}: ipvsadm -Ln --thresholds",
        )
    if service.mark is not None:
        return Cause(
            f"likely: packets to {service.vip}:{service.port} do not get the firewall mark {service.mark}, by which "
            f"{director} finds the service",
            f"on {director}: iptables-legacy -t mangle -S PREROUTING",
        )
    return None


def _entries(evidence: Evidence, service: VirtualService) -> tuple[DestinationEntry, ...] | None:
    table = (evidence.tables or {}).get(service.director)
    if table is None:
        return None
    entry = entry_of(table.services, service)
    return () if entry is None else entry.destinations


def _full(entry: DestinationEntry) -> bool:
    limit = entry.destination.upper_threshold
    return entry.destination.weight == 0 or 0 < limit <= entry.active + entry.inactive


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
    node = destination.node
    return wide_vip_of(evidence, service, node) or Cause(
        f"{node} does not answer the director's ARP requests for {destination.address}",
        f"is {node} up, is {destination.address} on its interface, is the VIP there as a host address?",
    )


def lost_behind_director(evidence: Evidence, service: VirtualService, end: Hop) -> Cause:
    """The director sent a request on, and it was last seen at `end`, which is no server."""
    if end.node == service.director:
        return Cause("nobody on that network took it: the MAC it was sent to is nobody's", f"ip neigh on {end.node}")
    return does_not_forward(evidence, end.node) or Cause(
        f"no route leads from {end.node} to the server, or a packet filter drops it", f"ip route on {end.node}"
    )
