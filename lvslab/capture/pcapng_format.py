"""What a pcapng file is made of (draft-ietf-opsawg-pcapng): blocks of padded fields, and options.

How lvslab uses it, so that a file read back gives the same capture:

- an interface is named ``node:interface``, with nanosecond timestamps;
- ``epb_flags`` carries the direction; an overheard frame is inbound with reception type *promiscuous*;
  bit 9 is *checksum not ready*;
- interfaces without an Ethernet header (tunl0, sit0, …) are stored with an all-zero one, as Linux shows `lo`,
  and say so in ``if_description``: libpcap refuses files whose interfaces differ in link type, so tcpdump
  could not read such a capture otherwise;
- a VLAN tag that the receiving kernel took off is kept as the packet's comment ``vlan ID, tag removed by …``;
- a node's losses are the ``isb_ifdrop`` of its first interface (of ``node:any`` if none of its frames were recorded).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

SECTION_HEADER = 0x0A0D0D0A
INTERFACE_DESCRIPTION = 1
OBSOLETE_PACKET = 2
SIMPLE_PACKET = 3
NAME_RESOLUTION = 4
INTERFACE_STATISTICS = 5
ENHANCED_PACKET = 6

BYTE_ORDER_MAGIC = 0x1A2B3C4D

OPT_END = 0
OPT_COMMENT = 1
SHB_USERAPPL = 4
IF_NAME = 2
IF_DESCRIPTION = 3
IF_TSRESOL = 9
IF_TSOFFSET = 14
EPB_FLAGS = 2
ISB_IFDROP = 5

NRB_END = 0
NRB_IPV4 = 1
NRB_IPV6 = 2

LINKTYPE_ETHERNET = 1
LINKTYPES_RAW_IP = frozenset({101, 228, 229})
"""LINKTYPE_RAW, LINKTYPE_IPV4, LINKTYPE_IPV6."""

FLAG_DIRECTION_MASK = 0b11
FLAG_INBOUND = 0b01
FLAG_OUTBOUND = 0b10
FLAG_RECEPTION_MASK = 0b11100
FLAG_PROMISCUOUS = 4 << 2
FLAG_CHECKSUM_NOT_READY = 1 << 9

ADDED_ETHERNET_HEADER = "raw IP, stored with an all-zero Ethernet header"
VLAN_COMMENT = "vlan {}, tag removed by the receiving kernel"
ANY_INTERFACE = "any"

NANOSECONDS = 9
"""if_tsresol as a negative power of ten."""


def padded(data: bytes) -> bytes:
    """Return the data, filled with zeros to a multiple of four bytes."""
    return data + bytes(-len(data) % 4)


def encode_options(options: Iterable[tuple[int, bytes]], header: Struct) -> bytes:
    """Return options with their end mark, or nothing if there are none."""
    encoded = b"".join(header.pack(code, len(value)) + padded(value) for code, value in options)
    return encoded + header.pack(OPT_END, 0) if encoded else b""


def decode_options(data: bytes, header: Struct) -> Iterator[tuple[int, bytes]]:
    """Yield (code, value) up to the end mark; an option that does not fit ends the list."""
    at = 0
    while len(data) - at >= header.size:
        code, size = header.unpack_from(data, at)
        at += header.size
        if code == OPT_END or len(data) - at < size:
            return
        yield code, data[at : at + size]
        at += size + -size % 4
