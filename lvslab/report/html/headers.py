"""A packet as its stack of headers, outermost first, each beside what it was at the hop before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from lvslab.capture.packet import Arp, Ethernet, Icmp, Ip, Packet, Sctp, Tcp, Tunnel, Udp
from lvslab.report.html.phrases import PagePhrases
from lvslab.walk import words
from lvslab.walk.model import Names
from lvslab.walk.names import mac_name

_PREVIEW_CHARACTERS = 60
_CHECKSUM_OWNERS = {"outer ip": "outer", "outer udp": "outer", "gre": "outer"}
"""Which header holds a checksum that goes by another name."""
_ORDER = ("ethernet", "arp", "outer", "ip", "tcp", "udp", "sctp", "icmp", "payload")


class State(StrEnum):
    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Value:
    text: str
    name: str = ""
    """What the reader calls it: a node for a MAC, CIP or VIP for an address."""


@dataclass(frozen=True, slots=True)
class Field:
    label: str
    value: Value
    old: Value | None = None
    """What it was at the hop before, if that was another value."""
    absent: Value | None = None
    """What a header without the field has; None: nothing."""
    main: bool = True
    """Whether it is shown at first sight; what changed always is."""

    @property
    def changed(self) -> bool:
        return self.old is not None


@dataclass(frozen=True, slots=True)
class Header:
    key: str
    """The same for the same header at each hop: ethernet, outer0 (the innermost of them), ip, tcp, payload, …"""
    title: str
    fields: tuple[Field, ...]
    state: State = State.KEPT

    @property
    def kind(self) -> str:
        return self.key.rstrip("0123456789")


def header_stack(packet: Packet, before: Packet | None, names: Names, say: PagePhrases) -> tuple[Header, ...]:
    """Return the headers; of those that `before` had and the packet lacks, what they were."""
    stack = tuple(_headers(packet, names, say))
    if before is None:
        return stack
    earlier = {header.key: header for header in _headers(before, names, say)}
    compared = {header.key: _compared(header, earlier.get(header.key), say) for header in stack}
    gone = {key: replace(header, state=State.REMOVED) for key, header in earlier.items() if key not in compared}
    return tuple(sorted((*compared.values(), *gone.values()), key=_place))


def _place(header: Header) -> tuple[int, int]:
    """Return where a header stands among others, the outermost first."""
    return _ORDER.index(header.kind), -int(header.key.removeprefix(header.kind) or 0)


def _compared(header: Header, earlier: Header | None, say: PagePhrases) -> Header:
    if earlier is None:
        return replace(header, state=State.ADDED)
    old = {field.label: field.value for field in earlier.fields}
    nothing = Value(say.word("nothing"))

    def against_old(field: Field) -> Field:
        before = old.get(field.label, field.absent or nothing)
        return field if before == field.value else replace(field, old=before)

    return replace(header, fields=tuple(map(against_old, header.fields)))


def _headers(packet: Packet, names: Names, say: PagePhrases) -> Iterator[Header]:
    for header in _plain_headers(packet, names, say):
        broken = [
            name for name in packet.bad_checksums if _CHECKSUM_OWNERS.get(name, name) in (header.kind, header.key)
        ]
        right, bad = Value(say.word("right")), Value(say.word("wrong"))
        wrong = tuple(Field(f"{name} {say.word('checksum')}", bad, absent=right) for name in broken)
        yield replace(header, fields=(*header.fields, *wrong)) if wrong else header


def _plain_headers(packet: Packet, names: Names, say: PagePhrases) -> Iterator[Header]:
    if packet.ethernet is not None:
        yield Header("ethernet", "Ethernet", tuple(_ethernet(packet.ethernet, names, say)))
    if packet.arp is not None:
        yield Header("arp", "ARP", tuple(_arp(packet.arp, names, say)))
        return
    for depth, tunnel in zip(reversed(range(len(packet.tunnels))), packet.tunnels, strict=True):
        title = f"{say.word('outer')} IPv{tunnel.ip.version} ({tunnel.kind})"
        yield Header(f"outer{depth}", title, tuple(_tunnel(tunnel, names, say)))
    if packet.ip is not None:
        yield Header("ip", f"IPv{packet.ip.version}", tuple(_ip(packet.ip, names, say)))
    if packet.transport is not None:
        yield _transport(packet, say)
    if packet.payload:
        yield Header("payload", say.word("payload"), tuple(_payload(packet.payload, say)))


def _ethernet(ethernet: Ethernet, names: Names, say: PagePhrases) -> Iterator[Field]:
    yield Field(say.word("source"), _mac(ethernet.source, names, say))
    yield Field(say.word("destination"), _mac(ethernet.destination, names, say))
    yield Field(say.word("type"), Value(f"0x{ethernet.ethertype:04x}"), main=False)


def _mac(mac: str, names: Names, say: PagePhrases) -> Value:
    name = mac_name(names, mac)
    return Value(mac, say.word(name) if name == "broadcast" else name) if name != mac else Value(mac)


def _address(address: str, names: Names) -> Value:
    return Value(address, names.terms.get(address) or names.labels.get(address, ""))


def _arp(arp: Arp, names: Names, say: PagePhrases) -> Iterator[Field]:
    yield Field(say.word("operation"), Value({1: "who-has", 2: "is-at"}.get(arp.operation, str(arp.operation))))
    yield Field(say.word("sender"), _address(arp.sender_ip, names))
    yield Field(f"{say.word('sender')} MAC", _mac(arp.sender_mac, names, say))
    yield Field(say.word("target"), _address(arp.target_ip, names))
    yield Field(f"{say.word('target')} MAC", _mac(arp.target_mac, names, say), main=False)


def _tunnel(tunnel: Tunnel, names: Names, say: PagePhrases) -> Iterator[Field]:
    yield from _ip(tunnel.ip, names, say)
    if tunnel.udp_ports is not None:
        source, destination = tunnel.udp_ports
        yield Field(f"UDP {say.word('source port')}", Value(str(source)))
        yield Field(f"UDP {say.word('destination port')}", Value(str(destination)))


def _ip(ip: Ip, names: Names, say: PagePhrases) -> Iterator[Field]:
    yield Field(say.word("source"), _address(ip.source, names))
    yield Field(say.word("destination"), _address(ip.destination, names))
    yield Field("TTL" if ip.version == 4 else say.word("hop limit"), Value(str(ip.ttl)))
    yield Field("TOS", Value(f"0x{ip.tos:02x}"), main=False)
    yield Field(say.word("protocol"), Value(str(ip.protocol)), main=False)
    yield Field(say.word("total length"), Value(str(ip.total_bytes)), main=False)
    if ip.version == 4:
        yield Field(say.word("identification"), Value(str(ip.identification)), main=False)
    flags = [("do not fragment", ip.dont_fragment), ("more fragments", ip.more_fragments)]
    said = [say.word(flag) for flag, given in flags if given]
    if ip.fragment_offset:
        said.append(str(ip.fragment_offset))
    if said:
        yield Field(say.word("fragment"), Value(", ".join(said)), main=bool(ip.more_fragments or ip.fragment_offset))


def _transport(packet: Packet, say: PagePhrases) -> Header:
    title = words.packet_title(packet._replace(payload=b""), Names(), say.language)
    match packet.transport:
        case Tcp() as tcp:
            return Header("tcp", title, tuple(_tcp(tcp, say)))
        case Udp() as udp:
            return Header("udp", title, tuple(_ports(udp, say)))
        case Sctp() as sctp:
            return Header("sctp", title, tuple(_sctp(sctp, say)))
        case icmp:
            assert isinstance(icmp, Icmp)  # noqa: S101 - the last of four
            return Header("icmp", title, tuple(_icmp(icmp, say)))


def _ports(transport: Tcp | Udp | Sctp, say: PagePhrases) -> Iterator[Field]:
    yield Field(say.word("source port"), Value(str(transport.source_port)))
    yield Field(say.word("destination port"), Value(str(transport.destination_port)))


def _tcp(tcp: Tcp, say: PagePhrases) -> Iterator[Field]:
    yield from _ports(tcp, say)
    yield Field(say.word("sequence number"), Value(str(tcp.sequence)), main=False)
    yield Field(say.word("acknowledgment"), Value(str(tcp.acknowledgment)), main=False)
    yield Field(say.word(words.Field.WINDOW), Value(str(tcp.window)), main=False)
    if tcp.options:
        yield Field(say.word(words.Field.TCP_OPTIONS), Value(tcp.options.hex(" ")), main=False)


def _sctp(sctp: Sctp, say: PagePhrases) -> Iterator[Field]:
    yield from _ports(sctp, say)
    yield Field(say.word(words.Field.VERIFICATION_TAG), Value(f"0x{sctp.verification_tag:08x}"), main=False)
    yield Field(say.word(words.Field.CHUNKS), Value(words.chunk_names(sctp)), main=False)
    if sctp.checksum is not None:
        checksum = Value(f"0x{sctp.checksum:08x}")
        # Left to hardware at the hop before, it was no other one.
        yield Field(say.word(words.Field.SCTP_CHECKSUM), checksum, absent=checksum, main=False)


def _icmp(icmp: Icmp, say: PagePhrases) -> Iterator[Field]:
    yield Field(say.word("type"), Value(str(icmp.type)))
    yield Field(say.word("code"), Value(str(icmp.code)))


def _payload(payload: bytes, say: PagePhrases) -> Iterator[Field]:
    yield Field(say.word("size"), Value(say.bytes.format(count=len(payload))))
    text = payload.split(b"\n", 1)[0].rstrip(b"\r").decode("ascii", errors="replace")
    if text and text.isprintable() and "�" not in text:
        more = "…" if len(text) > _PREVIEW_CHARACTERS else ""
        yield Field(say.word("text"), Value(text[:_PREVIEW_CHARACTERS] + more))
