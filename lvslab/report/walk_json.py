"""Walks as JSON, for other programs."""

from __future__ import annotations

from lvslab import __version__
from lvslab.capture.packet import Endpoint, Ip, Packet
from lvslab.walk.changes import changes_between
from lvslab.walk.model import Conversation, Hop, Names, Unmatched, Walk, Walks

SCHEMA_ID = "urn:lvslab:schema:walk:1"


def walks_document(walks: Walks) -> dict[str, object]:
    """Return all conversations with their walks, and what was unmatched. Times are nanoseconds since the epoch."""
    return {
        "schema": SCHEMA_ID,
        "lvslab": __version__,
        "names": {"macs": dict(walks.names.macs), "labels": dict(walks.names.labels), "terms": dict(walks.names.terms)},
        "conversations": [_conversation(item, walks.names) for item in walks.conversations],
        "unmatched": [_unmatched(rest, walks.names) for rest in walks.unmatched],
    }


def _conversation(conversation: Conversation, names: Names) -> dict[str, object]:
    return {
        "protocol": conversation.protocol,
        "initiator": _end(conversation.initiator),
        "responder": _end(conversation.responder),
        "requests": [_walk(walk, names) for walk in conversation.requests],
        "replies": [_walk(walk, names) for walk in conversation.replies],
        "errors": [_walk(walk, names) for walk in conversation.errors],
    }


def _walk(walk: Walk, names: Names) -> dict[str, object]:
    return {"hops": _hops(walk.hops, names), "overheard": _hops(walk.overheard, names)}


def _unmatched(rest: Unmatched, names: Names) -> dict[str, object]:
    return {
        "reason": rest.reason,
        "candidates": list(rest.candidates),
        "hops": _hops(rest.hops, names),
        "overheard": _hops(rest.overheard, names),
    }


def _hops(hops: tuple[Hop, ...], names: Names) -> list[dict[str, object]]:
    by_number = {hop.number: hop for hop in hops}
    return [_hop(hop, by_number.get(hop.previous) if hop.previous else None, names) for hop in hops]


def _hop(hop: Hop, before: Hop | None, names: Names) -> dict[str, object]:
    return {
        "node": hop.node,
        "interface": hop.interface,
        "direction": hop.direction.value,
        "frame": hop.number,
        "fragments": [fragment._asdict() for fragment in hop.frame.fragments],
        "time_ns": hop.time_ns,
        "step": hop.step.value,
        "previous": hop.previous,
        **_packet(hop.packet),
        "changes": [
            {"field": change.field.value, "old": change.old, "new": change.new}
            for change in (changes_between(before, hop, names) if before else ())
        ],
    }


def _packet(packet: Packet) -> dict[str, object]:
    ethernet, arp = packet.ethernet, packet.arp
    return {
        "source_mac": ethernet.source if ethernet else None,
        "destination_mac": ethernet.destination if ethernet else None,
        "arp": arp._asdict() if arp else None,
        "tunnels": [{"kind": tunnel.kind, **_ip(tunnel.ip)} for tunnel in packet.tunnels],
        "source": _end(packet.source),
        "destination": _end(packet.destination),
        "ttl": packet.ip.ttl if packet.ip else None,
        "protocol": packet.ip.protocol if packet.ip else None,
        "payload_bytes": len(packet.payload),
        "bad_checksums": list(packet.bad_checksums),
    }


def _ip(ip: Ip) -> dict[str, object]:
    return {"source": ip.source, "destination": ip.destination, "ttl": ip.ttl}


def _end(end: Endpoint | None) -> dict[str, object] | None:
    return None if end is None else {"address": end.address, "port": end.port}
