"""The sentences. Everything a walk says in a human language is built here, of the templates in `phrases`."""

from __future__ import annotations

from enum import StrEnum

from lvslab.capture.frame import Frame
from lvslab.capture.packet import Arp, Icmp, Ip, Packet, Sctp, Tcp, Tunnel, Udp
from lvslab.capture.sctp import CHUNK_NAMES
from lvslab.walk.model import Endpoint, Hop, Names, Step, Unmatched
from lvslab.walk.names import address_name, mac_name
from lvslab.walk.phrases import Language, Phrases, phrases


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
    VERIFICATION_TAG = "SCTP verification tag"
    CHUNKS = "SCTP chunks"
    SCTP_CHECKSUM = "SCTP checksum"
    PAYLOAD = "payload"
    CHECKSUM = "checksum"
    FRAGMENTS = "fragments"
    """In how many pieces, and which."""


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


def change(field: Field, old: str, new: str, node: str, names: Names, language: Language) -> str:
    """Return one change as a clause, or nothing where it goes without saying: a node sends from its own MAC."""
    if field is Field.SOURCE_MAC and names.macs.get(new) == node:
        return ""
    say = phrases(language)
    facts = {"field": say.word(field), "old": old, "new": new}
    match field:
        case Field.DESTINATION_MAC | Field.SOURCE_MAC:
            return say.mac_rewritten.format(mac=mac_name(names, new), **facts)
        case Field.OUTER_HEADER:
            template = say.outer_added if not old else say.outer_removed if not new else say.outer_rewritten
            return template.format(**facts)
        case Field.SOURCE | Field.DESTINATION:
            return say.end_rewritten.format(part=say.word(_rewritten_part(old, new)), **facts)
        case Field.FRAGMENTS:
            template = say.fragmented if new else say.joined
            return template.format(**facts)
        case Field.CHECKSUM | Field.TCP_OPTIONS:
            template = say.wrong_checksum if field is Field.CHECKSUM else say.rewritten
            return template.format(**facts)
        case Field.PAYLOAD:
            sizes = {"old": say.size.format(count=old), "new": say.size.format(count=new)}
            return say.payload_rewritten.format(**sizes)
        case _:
            return say.changed.format(**facts)


def _rewritten_part(old: str, new: str) -> str:
    old_address, _, old_port = old.rpartition(":") if _has_port(old) else (old, "", "")
    new_address, _, new_port = new.rpartition(":") if _has_port(new) else (new, "", "")
    if old_port == new_port:
        return "address"
    return "port" if old_address == new_address else "address and port"


def _has_port(end: str) -> bool:
    return end.startswith("[") or end.count(":") == 1


def fragments(frame: Frame, language: Language) -> str:
    """Return ``2 fragments (id 7: 0–1479 in frame 5, 1480–1499 in frame 6)``; nothing for a packet in one piece."""
    if not frame.fragments:
        return ""
    say = phrases(language)
    pieces = (
        say.fragment.format(first=each.offset, last=each.offset + each.size - 1, number=each.number)
        for each in frame.fragments
    )
    facts = {"count": len(frame.fragments), "id": frame.fragments[0].identification}
    return say.fragments.format(pieces=say.list_comma.join(pieces), **facts)


def crossed(before: Hop, after: Hop, language: Language) -> str:
    return phrases(language).crossed.format(sender=before.node, receiver=after.node)


def at_node(after: Hop, sentences: tuple[str, ...], kept: tuple[Kept, ...], language: Language) -> str:
    """Return all that a node did to a packet, and what of the rest is worth naming."""
    say = phrases(language)
    clauses = list(sentences)
    if kept:
        clauses.append(say.unchanged.format(kept=_list(tuple(map(say.word, kept)), say)))
    if after.step is Step.STACKED:
        clauses.insert(0, say.passed_to.format(interface=after.interface))
    return say.at_node.format(node=after.node, clauses=say.between_clauses.join(clauses))


def _list(items: tuple[str, ...], say: Phrases) -> str:
    return items[0] if len(items) == 1 else say.list_comma.join(items[:-1]) + say.last_comma + items[-1]


def packet_title(packet: Packet, names: Names, language: Language = Language.ENGLISH) -> str:
    """Say in a few words what a packet is: ``TCP SYN``, ``UDP, 12 bytes``, ``ARP who has …``."""
    say = phrases(language)
    if packet.arp is not None:
        return _arp_title(packet.arp, names, say)
    if packet.ip is None:
        if packet.ethernet is None:
            return say.size.format(count=len(packet.payload))
        return f"ethertype 0x{packet.ethernet.ethertype:04x}"
    if packet.ip.fragment_offset:
        return say.fragment_at.format(offset=packet.ip.fragment_offset)
    return _ip_title(packet, packet.ip, say)


def _ip_title(packet: Packet, ip: Ip, say: Phrases) -> str:
    data = say.comma + say.size.format(count=len(packet.payload)) if packet.payload else ""
    if isinstance(packet.transport, Tcp):
        return f"TCP {_tcp_flags(packet.transport.flags) or say.no_flags}{data}"
    if isinstance(packet.transport, Udp):
        return f"UDP{data}"
    if isinstance(packet.transport, Sctp):
        return f"SCTP {chunk_names(packet.transport)}{data}"
    if isinstance(packet.transport, Icmp):
        return _icmp_title(ip.version, packet.transport, say)
    return say.ip_protocol.format(number=ip.protocol)


def chunk_names(sctp: Sctp) -> str:
    """Return the kinds of an SCTP packet's chunks, in its order: ``COOKIE ECHO, DATA``."""
    return ", ".join(CHUNK_NAMES.get(chunk.type, f"chunk {chunk.type}") for chunk in sctp.chunks)


def _tcp_flags(flags: str) -> str:
    return "-".join(_TCP_FLAG_NAMES[letter] for letter in _TCP_FLAG_ORDER if letter in flags)


def _icmp_title(version: int, icmp: Icmp, say: Phrases) -> str:
    if version == 4 and (icmp.type, icmp.code) == (3, _FRAGMENTATION_NEEDED):
        return say.fragmentation_needed.format(mtu=icmp.rest & 0xFFFF)
    if version == 6 and icmp.type == 2:
        return say.too_big.format(mtu=icmp.rest)
    known = _ICMP_TYPES.get((version, icmp.type))
    kind = say.word(known) if known else say.icmp_type.format(number=icmp.type)
    return f"{'ICMP' if version == 4 else 'ICMPv6'} {kind}"


def _arp_title(arp: Arp, names: Names, say: Phrases) -> str:
    wanted, owner = address_name(names, arp.target_ip), address_name(names, arp.sender_ip)
    if arp.operation == 1:
        return say.who_has.format(wanted=wanted, asker=owner)
    node = names.macs.get(arp.sender_mac)
    return say.is_at.format(address=owner, mac=arp.sender_mac) + (f" ({node})" if node else "")


def unmatched_reason(rest: Unmatched, language: Language) -> str:
    """Say why a packet's beginning could not be found."""
    say = phrases(language)
    reason = say.word(rest.reason)
    if not rest.candidates:
        return reason
    return say.candidates.format(reason=reason, numbers=say.list_comma.join(map(str, rest.candidates)))


def no_arp(address: str, language: Language) -> str:
    return phrases(language).no_arp.format(address=address)
