"""Read a capture from pcapng: lvslab's own, and what tcpdump's and Wireshark's tools made of one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from struct import Struct

from lvslab.capture import pcapng_format as pcapng
from lvslab.capture.bulk import collector_paused
from lvslab.capture.frame import Capture, Direction, Frame, LinkType
from lvslab.errors import BadInput
from lvslab.inputs import open_input

_PCAP_MAGICS = frozenset(
    bytes.fromhex(magic) for magic in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "34cdb2a1", "a1b2cd34")
)
"""Classic pcap: microseconds, nanoseconds and the Kuznetzov variant, in both byte orders."""
_MINIMUM_BLOCK_BYTES = 12
_ETHERNET_BYTES = 14
_NS_PER_S = 1_000_000_000
_VLAN = re.compile(re.escape(pcapng.VLAN_COMMENT).replace(re.escape("{}"), "([0-9]{1,4})"))
_CAPTURE_AGAIN = "use a file that `lvslab verify --pcap` wrote"


@dataclass(frozen=True, slots=True)
class _Order:
    """The structs of one byte order."""

    u32: Struct
    interface: Struct
    packet: Struct
    option: Struct
    statistics: Struct
    u64: Struct
    i64: Struct

    @classmethod
    def of(cls, mark: str) -> _Order:
        return cls(*(Struct(mark + fields) for fields in ("I", "HHI", "IIIII", "HH", "III", "Q", "q")))


_LITTLE, _BIG = _Order.of("<"), _Order.of(">")


@dataclass(frozen=True, slots=True)
class _Interface:
    name: str
    link_type: int
    header_added: bool
    ticks_per_s: int
    offset_s: int

    def time_ns(self, ticks: int) -> int:
        return self.offset_s * _NS_PER_S + ticks * _NS_PER_S // self.ticks_per_s


@dataclass(slots=True)
class _File:
    """What has been read so far; the interfaces belong to the section being read."""

    path: Path
    data: bytes
    order: _Order = _LITTLE
    interfaces: list[_Interface] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    drops: dict[str, int] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)

    def fault(self, what: str, at: int, **facts: str) -> BadInput:
        return BadInput(what, where=f"{self.path}: byte {at}", **facts)


def read_capture(path: Path) -> Capture:
    """Return the frames in order of time; a frame's number is its position in the file, as Wireshark counts.

    Raises BadInput if the file is no pcapng, is cut short, or does not tell a frame's node, direction or time.
    """
    with open_input(path, "the capture") as stream:
        data = stream.read()
    _refuse_other_formats(path, data)
    file = _File(path, data)
    with collector_paused():
        for at, kind, start, end in _blocks(file):
            reader = _READERS.get(kind)
            if reader:
                reader(file, at, start, end)
    frames = tuple(sorted(file.frames, key=attrgetter("time_ns")))
    return Capture(frames, file.drops, "\n".join(file.comments))


def _refuse_other_formats(path: Path, data: bytes) -> None:
    if data[:4] in _PCAP_MAGICS:
        raise BadInput(
            "a classic pcap file does not say at which node and interface a frame was seen, nor in which direction",
            where=str(path),
            expected="pcapng",
            found="pcap",
            next_step=f"{_CAPTURE_AGAIN}; to add them yourself, convert each interface's file with editcap -F pcapng",
        )
    if len(data) < _MINIMUM_BLOCK_BYTES or data[:4] != pcapng.SECTION_HEADER.to_bytes(4, "big"):
        found = "an empty file" if not data else f"bytes {data[:4].hex(' ')}"
        raise BadInput("not a capture file", where=str(path), expected="pcapng", found=found, next_step=_CAPTURE_AGAIN)


def _blocks(file: _File) -> Iterator[tuple[int, int, int, int]]:
    """Yield (offset, type, body start, body end) of each block, changing byte order at a section's header."""
    at, data = 0, file.data
    while at < len(data):
        if len(data) - at < _MINIMUM_BLOCK_BYTES:
            raise file.fault("the file is cut short inside a block", at)
        (kind,) = file.order.u32.unpack_from(data, at)
        if kind == pcapng.SECTION_HEADER:
            file.order = _byte_order(file, at)
        (total,) = file.order.u32.unpack_from(data, at + 4)
        if total < _MINIMUM_BLOCK_BYTES or total % 4:
            raise file.fault("a block's length makes no sense", at, found=f"{total} bytes")
        if at + total > len(data):
            raise file.fault(
                "the file is cut short inside a block", at, expected=f"{total} bytes", found=f"{len(data) - at} bytes"
            )
        (repeated,) = file.order.u32.unpack_from(data, at + total - 4)
        if repeated != total:
            raise file.fault("a block's two lengths differ", at, expected=str(total), found=str(repeated))
        yield at, kind, at + 8, at + total - 4
        at += total


def _byte_order(file: _File, at: int) -> _Order:
    for order in (_LITTLE, _BIG):
        if order.u32.unpack_from(file.data, at + 8)[0] == pcapng.BYTE_ORDER_MAGIC:
            return order
    raise file.fault("a section header without a byte-order magic", at)


def _need(file: _File, at: int, start: int, end: int, size: int) -> None:
    if end - start < size:
        raise file.fault("a block is too short for its fields", at, expected=f"{size} bytes", found=f"{end - start}")


def _section(file: _File, at: int, start: int, end: int) -> None:
    _need(file, at, start, end, 16)
    file.interfaces = []
    for code, value in pcapng.decode_options(file.data[start + 16 : end], file.order.option):
        if code == pcapng.OPT_COMMENT:
            file.comments.append(_text(value))


def _interface(file: _File, at: int, start: int, end: int) -> None:
    _need(file, at, start, end, file.order.interface.size)
    link_type, _, _ = file.order.interface.unpack_from(file.data, start)
    options = dict(pcapng.decode_options(file.data[start + file.order.interface.size : end], file.order.option))
    resolution = options.get(pcapng.IF_TSRESOL, b"\x06")[:1] or b"\x06"
    offset = options.get(pcapng.IF_TSOFFSET, b"")
    file.interfaces.append(
        _Interface(
            name=_text(options.get(pcapng.IF_NAME, b"")),
            link_type=link_type,
            header_added=_text(options.get(pcapng.IF_DESCRIPTION, b"")) == pcapng.ADDED_ETHERNET_HEADER,
            ticks_per_s=_ticks_per_second(resolution[0]),
            offset_s=file.order.i64.unpack(offset)[0] if len(offset) == 8 else 0,
        )
    )


def _ticks_per_second(resolution: int) -> int:
    """The top bit chooses between powers of two and of ten."""
    exponent = resolution & 0x7F
    return 1 << exponent if resolution & 0x80 else int(10**exponent)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace").rstrip("\0")


def _enhanced_packet(file: _File, at: int, start: int, end: int) -> None:
    header = file.order.packet
    _need(file, at, start, end, header.size)
    index, high, low, captured, wire_bytes = header.unpack_from(file.data, start)
    number = len(file.frames) + 1
    if index >= len(file.interfaces):
        raise file.fault(f"frame {number} is of an interface that the file does not describe", at)
    interface = file.interfaces[index]
    node, name, link_type = _where(file, at, number, interface)
    data_at = start + header.size
    _need(file, at, data_at, end, captured)
    options = file.data[data_at + captured + -captured % 4 : end]
    flags, vlan = _packet_options(file, options)
    added = _ETHERNET_BYTES if interface.header_added else 0
    file.frames.append(
        Frame(
            number=number,
            time_ns=interface.time_ns(high << 32 | low),
            node=node,
            interface=name,
            direction=_direction(file, at, number, flags),
            link_type=link_type,
            data=file.data[data_at + added : data_at + captured],
            wire_bytes=wire_bytes - added,
            checksum_ready=not flags & pcapng.FLAG_CHECKSUM_NOT_READY,
            vlan=vlan,
        )
    )


def _packet_options(file: _File, data: bytes) -> tuple[int, int | None]:
    """Return the flags and the VLAN id."""
    flags, vlan = 0, None
    for code, value in pcapng.decode_options(data, file.order.option):
        if code == pcapng.EPB_FLAGS and len(value) == 4:
            (flags,) = file.order.u32.unpack(value)
        elif code == pcapng.OPT_COMMENT and (match := _VLAN.fullmatch(_text(value))):
            vlan = int(match[1])
    return flags, vlan


def _where(file: _File, at: int, number: int, interface: _Interface) -> tuple[str, str, LinkType]:
    node, colon, name = interface.name.partition(":")
    if not (node and colon and name):
        raise file.fault(
            f"frame {number} is of an interface whose name does not say which node it belongs to",
            at,
            expected="if_name node:interface, such as director:eth0",
            found=repr(interface.name) if interface.name else "no name",
            next_step=_CAPTURE_AGAIN,
        )
    if interface.header_added or interface.link_type in pcapng.LINKTYPES_RAW_IP:
        return node, name, LinkType.RAW_IP
    if interface.link_type == pcapng.LINKTYPE_ETHERNET:
        return node, name, LinkType.ETHERNET
    raise file.fault(
        f"frame {number} is of an interface with a link type that is not supported",
        at,
        expected="1 (Ethernet) or 101 (raw IP)",
        found=str(interface.link_type),
    )


def _direction(file: _File, at: int, number: int, flags: int) -> Direction:
    direction = flags & pcapng.FLAG_DIRECTION_MASK
    if direction == pcapng.FLAG_OUTBOUND:
        return Direction.OUT
    if direction == pcapng.FLAG_INBOUND:
        promiscuous = flags & pcapng.FLAG_RECEPTION_MASK == pcapng.FLAG_PROMISCUOUS
        return Direction.OVERHEARD if promiscuous else Direction.IN
    raise file.fault(
        f"frame {number} does not say whether it came in or went out",
        at,
        expected="epb_flags with a direction",
        found="none",
        next_step=_CAPTURE_AGAIN,
    )


def _packet_without_time(file: _File, at: int, start: int, end: int) -> None:  # noqa: ARG001 - the signature of a block reader
    raise file.fault("a packet block of a kind that tells neither direction nor time", at, next_step=_CAPTURE_AGAIN)


def _statistics(file: _File, at: int, start: int, end: int) -> None:
    header = file.order.statistics
    _need(file, at, start, end, header.size)
    index, _, _ = header.unpack_from(file.data, start)
    if index >= len(file.interfaces):
        raise file.fault("statistics of an interface that the file does not describe", at)
    for code, value in pcapng.decode_options(file.data[start + header.size : end], file.order.option):
        if code == pcapng.ISB_IFDROP and len(value) == 8:
            node = file.interfaces[index].name.partition(":")[0]
            file.drops[node] = file.drops.get(node, 0) + file.order.u64.unpack(value)[0]


_READERS = {
    pcapng.SECTION_HEADER: _section,
    pcapng.INTERFACE_DESCRIPTION: _interface,
    pcapng.ENHANCED_PACKET: _enhanced_packet,
    pcapng.SIMPLE_PACKET: _packet_without_time,
    pcapng.OBSOLETE_PACKET: _packet_without_time,
    pcapng.INTERFACE_STATISTICS: _statistics,
}
