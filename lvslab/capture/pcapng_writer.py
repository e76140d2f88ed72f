"""Write a capture as pcapng; `pcapng_format` says how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from struct import Struct

from lvslab.capture import pcapng_format as pcapng
from lvslab.capture.frame import Capture, Direction, Frame, LinkType
from lvslab.errors import BadInput

Names = Mapping[IPv4Address | IPv6Address, str]

_BLOCK_ENDS = Struct("<II")
_TOTAL = Struct("<I")
_SECTION = Struct("<IHHq")
_INTERFACE = Struct("<HHI")
_PACKET = Struct("<IIIII")
_STATISTICS = Struct("<III")
_OPTION = Struct("<HH")

_NO_SNAPLEN = 0
_UNKNOWN_LENGTH = -1
_DIRECTION_FLAGS = {
    Direction.IN: pcapng.FLAG_INBOUND,
    Direction.OUT: pcapng.FLAG_OUTBOUND,
    Direction.OVERHEARD: pcapng.FLAG_INBOUND | pcapng.FLAG_PROMISCUOUS,
}
_ETHERTYPES = {4: b"\x08\x00", 6: b"\x86\xdd"}


def write_capture(path: Path, capture: Capture, *, names: Names | None = None) -> None:
    """Write the capture; `names` makes Wireshark show a name (VIP, RIP1, …) beside an address.

    Raises BadInput if the file cannot be written.
    """
    try:
        with path.open("wb") as file:
            file.writelines(_blocks(capture, names or {}))
    except OSError as error:
        raise BadInput(f"cannot write the capture: {error.strerror}", where=str(path)) from error


def _blocks(capture: Capture, names: Names) -> Iterator[bytes]:
    encoder = PcapngEncoder()
    yield encoder.section(capture.comment)
    for frame in capture.frames:
        yield encoder.interface(frame.node, frame.interface, frame.link_type)
    for node in capture.drops:
        yield encoder.some_interface(node)
    if names:
        yield _names(names)
    for frame in capture.frames:
        yield encoder.packet(frame)
    yield encoder.losses(capture.drops, capture.frames[-1].time_ns if capture.frames else 0)


class PcapngEncoder:
    """Gives a file's blocks one after another, and remembers which interfaces it has described.

    Every block is whole, so a file that ends after any of them is valid.
    """

    def __init__(self) -> None:
        self._indices: dict[tuple[str, str], int] = {}
        self._first_of_node: dict[str, int] = {}

    def section(self, comment: str = "") -> bytes:
        return _section(comment)

    def interface(self, node: str, interface: str, link_type: LinkType) -> bytes:
        """Return the description of an interface, nothing if it has been described."""
        key = (node, interface)
        if key in self._indices:
            return b""
        self._indices[key] = len(self._indices)
        self._first_of_node.setdefault(node, self._indices[key])
        return _interface(f"{node}:{interface}", link_type)

    def some_interface(self, node: str) -> bytes:
        """Return the description of an interface that stands for the node if none of its own has been described."""
        return b"" if node in self._first_of_node else self.interface(node, pcapng.ANY_INTERFACE, LinkType.ETHERNET)

    def packet(self, frame: Frame) -> bytes:
        """Return a frame, after the description of its interface if that is new."""
        described = self.interface(frame.node, frame.interface, frame.link_type)
        return described + _packet(frame, self._indices[frame.node, frame.interface])

    def losses(self, drops: Mapping[str, int], time_ns: int) -> bytes:
        """Return how many frames were lost by that time, by node."""
        described = b"".join(map(self.some_interface, drops))
        counts = (_statistics(self._first_of_node[node], time_ns, count) for node, count in drops.items())
        return described + b"".join(counts)


def _block(kind: int, body: bytes) -> bytes:
    total = _BLOCK_ENDS.size + len(body) + _TOTAL.size
    return _BLOCK_ENDS.pack(kind, total) + body + _TOTAL.pack(total)


def _section(comment: str) -> bytes:
    options = [(pcapng.SHB_USERAPPL, b"lvslab")]
    if comment:
        options.insert(0, (pcapng.OPT_COMMENT, comment.encode()))
    body = _SECTION.pack(pcapng.BYTE_ORDER_MAGIC, 1, 0, _UNKNOWN_LENGTH)
    return _block(pcapng.SECTION_HEADER, body + pcapng.encode_options(options, _OPTION))


def _interface(name: str, link_type: LinkType) -> bytes:
    options = [(pcapng.IF_NAME, name.encode()), (pcapng.IF_TSRESOL, bytes([pcapng.NANOSECONDS]))]
    if link_type is LinkType.RAW_IP:
        options.append((pcapng.IF_DESCRIPTION, pcapng.ADDED_ETHERNET_HEADER.encode()))
    body = _INTERFACE.pack(pcapng.LINKTYPE_ETHERNET, 0, _NO_SNAPLEN)
    return _block(pcapng.INTERFACE_DESCRIPTION, body + pcapng.encode_options(options, _OPTION))


def _names(names: Names) -> bytes:
    records = (
        (pcapng.NRB_IPV4 if address.version == 4 else pcapng.NRB_IPV6, address.packed + name.encode() + b"\0")
        for address, name in names.items()
    )
    return _block(pcapng.NAME_RESOLUTION, pcapng.encode_options(records, _OPTION))


def _packet(frame: Frame, interface: int) -> bytes:
    added = _added_header(frame)
    flags = _DIRECTION_FLAGS[frame.direction]
    if not frame.checksum_ready:
        flags |= pcapng.FLAG_CHECKSUM_NOT_READY
    options = [(pcapng.EPB_FLAGS, _TOTAL.pack(flags))]
    if frame.vlan is not None:
        options.append((pcapng.OPT_COMMENT, pcapng.VLAN_COMMENT.format(frame.vlan).encode()))
    high, low = frame.time_ns >> 32, frame.time_ns & 0xFFFFFFFF
    captured = added + frame.data
    body = _PACKET.pack(interface, high, low, len(captured), len(added) + frame.wire_bytes)
    return _block(pcapng.ENHANCED_PACKET, body + pcapng.padded(captured) + pcapng.encode_options(options, _OPTION))


def _added_header(frame: Frame) -> bytes:
    if frame.link_type is LinkType.ETHERNET:
        return b""
    version = frame.data[0] >> 4 if frame.data else 0
    return bytes(12) + _ETHERTYPES.get(version, b"\0\0")


def _statistics(interface: int, time_ns: int, drops: int) -> bytes:
    body = _STATISTICS.pack(interface, time_ns >> 32, time_ns & 0xFFFFFFFF)
    options = [(pcapng.ISB_IFDROP, drops.to_bytes(8, "little"))]
    return _block(pcapng.INTERFACE_STATISTICS, body + pcapng.encode_options(options, _OPTION))
