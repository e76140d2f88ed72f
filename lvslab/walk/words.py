"""The sentences. Everything a walk says in a human language is built here, and nothing else is."""

from __future__ import annotations

from enum import StrEnum

from lvslab.capture.packet import Arp, Icmp, Ip, Packet, Tcp, Tunnel, Udp
from lvslab.walk.model import Endpoint, Hop, Names, Step
from lvslab.walk.names import mac_name


class Field(StrEnum):
    """What can change at a hop."""

    DESTINATION_MAC = "destination MAC"
    SOURCE_MAC = "source MAC"
    OUTER_HEADER = "outer header"
    OUTER_TTL = "outer TTL"
    TTL = "TTL"
    INNER_TTL = "inner TTL"
    SOURCE = "source"
    """Address, port or both."""
    DESTINATION = "destination"
    TOS = "TOS"
    WINDOW = "TCP window"
    TCP_OPTIONS = "TCP options"
    PAYLOAD = "payload"
    CHECKSUM = "checksum"


class Kept(StrEnum):
    """What is worth saying that it did not change."""

    ADDRESSES = "IP addresses"
    PORTS = "ports"
    PAYLOAD = "payload"
    INNER = "inner packet"


_ICMP_TYPES = {
    (4, 0): "echo reply",
    (4, 3): "destination unreachable",
    (4, 5): "redirect",
    (4, 8): "echo request",
    (4, 11): "time exceeded",
    (6, 1): "destination unreachable",
    (6, 2): "packet too big",
    (6, 3): "time exceeded",
    (6, 128): "echo request",
    (6, 129): "echo reply",
    (6, 133): "router solicitation",
    (6, 134): "router advertisement",
    (6, 135): "neighbour solicitation",
    (6, 136): "neighbour advertisement",
}
_FRAGMENTATION_NEEDED = 4
_TCP_FLAG_NAMES = {"S": "SYN", "F": "FIN", "R": "RST", "P": "PSH", ".": "ACK", "U": "URG", "E": "ECE", "W": "CWR"}
_TCP_FLAG_ORDER = "SFRP.UEW"


def endpoint(address: str, port: int | None) -> str:
    """Return ``192.0.2.1:80``, ``[2001:db8::1]:80`` or the address alone."""
    return str(Endpoint(address, port))


def tunnel(outer: Tunnel) -> str:
    """Return ``ipip 203.0.113.2 → 198.18.0.11``."""
    ports = outer.udp_ports or (None, None)
    return f"{outer.kind} {endpoint(outer.ip.source, ports[0])} → {endpoint(outer.ip.destination, ports[1])}"


def change(field: Field, old: str, new: str, node: str, names: Names) -> str:
    """Return one change as a clause, or nothing where it goes without saying: a node sends from its own MAC."""
    if field is Field.SOURCE_MAC and names.macs.get(new) == node:
        return ""
    match field:
        case Field.DESTINATION_MAC | Field.SOURCE_MAC:
            clause = f"{field} rewritten to {mac_name(names, new)}"
        case Field.OUTER_HEADER:
            clause = _outer_header(old, new)
        case Field.SOURCE | Field.DESTINATION:
            clause = f"{field} {_rewritten_part(old, new)} rewritten {old} → {new}"
        case Field.CHECKSUM:
            clause = f"wrong checksum: {new}"
        case Field.TCP_OPTIONS:
            clause = f"{field} rewritten"
        case Field.PAYLOAD:
            clause = f"{field} rewritten ({old} → {new})"
        case _:
            clause = f"{field} {old} → {new}"
    return clause


def _outer_header(old: str, new: str) -> str:
    if not old:
        return f"outer header added ({new})"
    if not new:
        return f"outer header removed ({old})"
    return f"outer header rewritten {old} → {new}"


def _rewritten_part(old: str, new: str) -> str:
    old_address, _, old_port = old.rpartition(":") if _has_port(old) else (old, "", "")
    new_address, _, new_port = new.rpartition(":") if _has_port(new) else (new, "", "")
    if old_port == new_port:
        return "address"
    return "port" if old_address == new_address else "address and port"


def _has_port(end: str) -> bool:
    return end.startswith("[") or end.count(":") == 1


def crossed(before: Hop, after: Hop) -> str:
    return f"{before.node} → {after.node}: received as sent"


def at_node(after: Hop, sentences: tuple[str, ...], kept: tuple[Kept, ...]) -> str:
    """Return all that a node did to a packet, and what of the rest is worth naming."""
    clauses = list(sentences)
    if kept:
        clauses.append(f"{_list(kept)} unchanged")
    if after.step is Step.STACKED:
        clauses.insert(0, f"passed to {after.interface}")
    return f"{after.node}: {'; '.join(clauses)}"


def _list(items: tuple[str, ...]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def packet_title(packet: Packet, names: Names) -> str:
    """Say in a few words what a packet is: ``TCP SYN``, ``UDP, 12 bytes``, ``ARP who has …``."""
    if packet.arp is not None:
        return _arp_title(packet.arp, names)
    if packet.ip is None:
        return f"ethertype 0x{packet.ethernet.ethertype:04x}" if packet.ethernet else f"{len(packet.payload)} bytes"
    if packet.ip.fragment_offset:
        return f"fragment at byte {packet.ip.fragment_offset}"
    return _ip_title(packet, packet.ip)


def _ip_title(packet: Packet, ip: Ip) -> str:
    data = f", {len(packet.payload)} bytes" if packet.payload else ""
    if isinstance(packet.transport, Tcp):
        return f"TCP {_tcp_flags(packet.transport.flags)}{data}"
    if isinstance(packet.transport, Udp):
        return f"UDP{data}"
    if isinstance(packet.transport, Icmp):
        return _icmp_title(ip.version, packet.transport)
    return f"IP protocol {ip.protocol}"


def _tcp_flags(flags: str) -> str:
    return "-".join(_TCP_FLAG_NAMES[letter] for letter in _TCP_FLAG_ORDER if letter in flags) or "without flags"


def _icmp_title(version: int, icmp: Icmp) -> str:
    family = "ICMP" if version == 4 else "ICMPv6"
    if version == 4 and (icmp.type, icmp.code) == (3, _FRAGMENTATION_NEEDED):
        return f"ICMP fragmentation needed, MTU {icmp.rest & 0xFFFF}"
    if version == 6 and icmp.type == 2:
        return f"ICMPv6 packet too big, MTU {icmp.rest}"
    return f"{family} {_ICMP_TYPES.get((version, icmp.type), f'type {icmp.type}')}"


def _arp_title(arp: Arp, names: Names) -> str:
    if arp.operation == 1:
        return f"ARP who has {arp.target_ip}, tell {arp.sender_ip}"
    owner = names.macs.get(arp.sender_mac)
    return f"ARP {arp.sender_ip} is at {arp.sender_mac}" + (f" ({owner})" if owner else "")
