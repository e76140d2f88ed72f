"""Read the recorder's spool: ring blocks exactly as the kernel filled them.

A record is ``LVSB``, the node's index, the number of packets and the number of bytes that follow (three
little-endian u32), then the block: struct tpacket_block_desc with its packets, each a struct tpacket3_hdr,
a struct sockaddr_ll and the frame (include/uapi/linux/if_packet.h, Documentation/networking/packet_mmap.rst).

The same records come piece by piece from a live capture. A spool file that ends inside a record is refused, not
read as far as it goes: packets are missing whose number and nodes nobody knows, and a verdict on such a capture
would be worthless.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from struct import Struct

from lvslab.capture.bulk import collector_paused
from lvslab.capture.causal import in_causal_order
from lvslab.capture.frame import Capture, Direction, Frame, FrameFields, LinkType
from lvslab.errors import KernelFault

_RECORD = Struct("<4sIII")
_MAGIC = b"LVSB"

_NATIVE = "<" if sys.byteorder == "little" else ">"
_BLOCK = Struct(_NATIVE + "IIIIIIQ")
"""version, offset_to_priv, then tpacket_hdr_v1: status, num_pkts, offset_to_first_pkt, blk_len, seq_num."""
_PACKET = Struct(_NATIVE + "IIIIIIHHII")
"""next_offset, sec, nsec, snaplen, len, status, mac, net, rxhash, vlan_tci."""
_LINK_ADDRESS_AT = 48
"""TPACKET_ALIGN(sizeof(struct tpacket3_hdr))."""
_LINK_ADDRESS = Struct(_NATIVE + "2xHiHB")
"""sockaddr_ll from its protocol on: protocol, ifindex, hatype, pkttype."""

_CHECKSUM_NOT_READY = 0x8  # TP_STATUS_CSUMNOTREADY
_VLAN_VALID = 0x10  # TP_STATUS_VLAN_VALID
_VLAN_ID_MASK = 0x0FFF

_DIRECTIONS = {4: Direction.OUT, 3: Direction.OVERHEARD}  # PACKET_OUTGOING, PACKET_OTHERHOST
_ETHERNET_HARDWARE = frozenset({1, 772})  # ARPHRD_ETHER, ARPHRD_LOOPBACK

_CURE = "the recorder was killed; capture again"


InterfaceName = Callable[[tuple[str, int]], str | None]
"""Gives the name behind a node and an interface number, None if there is none."""


def link_type(hardware: int) -> LinkType:
    """Return what frames of a device of this ARPHRD_* type (linux/if_arp.h) begin with."""
    return LinkType.ETHERNET if hardware in _ETHERNET_HARDWARE else LinkType.RAW_IP


class SpoolReader:
    """Takes records apart; feed it whatever has come. `nodes` gives the name behind each node index."""

    def __init__(self, where: str, nodes: Sequence[str], interface_name: InterfaceName) -> None:
        self._where = where
        self._nodes = nodes
        self._interface_name = interface_name
        self._rest = b""
        self._begun_at = 0
        """Where in the whole spool `_rest` begins."""

    def feed(self, data: bytes) -> Iterator[FrameFields]:
        """Yield the frames of the records that `data` completes. Raises KernelFault if they are inconsistent."""
        spool = self._rest + data
        at = 0
        while len(spool) - at >= _RECORD.size:
            magic, node, packets, size = _RECORD.unpack_from(spool, at)
            if magic != _MAGIC or node >= len(self._nodes):
                raise self._fault("the capture spool holds something that is not a record", at)
            body_at = at + _RECORD.size
            if len(spool) - body_at < size:
                break
            yield from self._block(spool, body_at, body_at + size, self._nodes[node], packets)
            at = body_at + size
        self._rest = spool[at:]
        self._begun_at += at

    def finish(self) -> None:
        """Raise KernelFault if a record is incomplete."""
        if self._rest:
            raise self._fault("the capture spool ends inside a record", 0)

    def _block(self, spool: bytes, start: int, end: int, node: str, packets: int) -> Iterator[FrameFields]:
        if end - start < _BLOCK.size:
            raise self._fault("a capture block is shorter than its header", start)
        _, _, _, held, first, _, _ = _BLOCK.unpack_from(spool, start)
        if held != packets:
            raise self._fault(f"a capture block holds {held} packets, its record says {packets}", start)
        at = start + first
        for _ in range(packets):
            if end - at < _LINK_ADDRESS_AT + _LINK_ADDRESS.size:
                raise self._fault("a capture block ends inside a packet", at)
            next_offset, sec, nsec, snaplen, length, status, mac, net, _, vlan_tci = _PACKET.unpack_from(spool, at)
            _, ifindex, hardware, packet_type = _LINK_ADDRESS.unpack_from(spool, at + _LINK_ADDRESS_AT)
            data_at = at + mac
            if end - data_at < snaplen:
                raise self._fault("a capture block ends inside a packet", at)
            kind = link_type(hardware)
            # A GRE device gives its outer headers as the link header (net/ipv4/ip_gre.c: ipgre_header).
            skipped = max(0, net - mac) if kind is LinkType.RAW_IP else 0
            yield (
                sec * 1_000_000_000 + nsec,
                node,
                self._interface(node, ifindex, at),
                _DIRECTIONS.get(packet_type, Direction.IN),
                kind,
                spool[data_at + skipped : data_at + snaplen],
                length - skipped,
                not status & _CHECKSUM_NOT_READY,
                vlan_tci & _VLAN_ID_MASK if status & _VLAN_VALID else None,
            )
            at += next_offset

    def _interface(self, node: str, ifindex: int, at: int) -> str:
        name = self._interface_name((node, ifindex))
        if name is None:
            raise self._fault(f"the capture names interface {ifindex} of {node}, which the recorder never listed", at)
        return name

    def _fault(self, what: str, at: int) -> KernelFault:
        return KernelFault(what, where=f"{self._where}: byte {self._begun_at + at}", next_step=_CURE)


def read_spool(
    path: Path,
    nodes: Sequence[str],
    interfaces: Mapping[tuple[str, int], str],
    drops: Mapping[str, int],
) -> Capture:
    """Return the frames in order of time and cause, numbered from 1.

    `nodes` gives the name behind each node index, `interfaces` the name behind each (node, ifindex), `drops`
    what PACKET_STATISTICS reported by node. Raises KernelFault if the spool is torn or inconsistent.
    """
    reader = SpoolReader(str(path), nodes, interfaces.get)
    with collector_paused():
        in_order = list(in_causal_order(reader.feed(path.read_bytes())))
        reader.finish()
        return Capture(tuple(Frame(number, *fields) for number, fields in enumerate(in_order, 1)), dict(drops))
