"""Puts IPv4 fragments together, as whoever receives them would (RFC 791 section 3.2): a packet is seen, not its pieces.

A packet in pieces becomes one frame, at the moment of the last piece and with that frame's number; `Frame.fragments`
says what it was made of. Pieces of which some are missing, or whose headers are broken, stay frames by themselves.
IPv6 fragments (RFC 8200 section 4.5) are not put together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from lvslab.capture.checksum import word_sum
from lvslab.capture.frame import Fragment, Frame, LinkType
from lvslab.capture.ip import IpLayer, parse_ipv4

_ETHERNET_BYTES = 14
_IPV4_TYPE = b"\x08\x00"
_FLAGS_AT, _TOTAL_AT, _CHECKSUM_AT = 6, 2, 10
MAX_PAUSE_NS = 30_000_000_000
"""Longest time between two pieces: Linux waits 30 s (ip-sysctl.rst: ipfrag_time)."""


def join_fragments(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Return the frames in the same order, complete packets in the place of their last piece."""
    kept = tuple(frames)
    joined: dict[int, Frame] = {}
    swallowed: set[int] = set()
    waiting: dict[Hashable, list[tuple[Frame, IpLayer]]] = {}
    for frame in kept:
        piece = _piece(frame)
        if piece is None:
            continue
        key, layer = piece
        pieces = [each for each in waiting.pop(key, []) if frame.time_ns - each[0].time_ns <= MAX_PAUSE_NS]
        pieces.append((frame, layer))
        if _is_whole(pieces):
            joined[frame.number] = _whole(frame, pieces)
            swallowed |= {other.number for other, _ in pieces}
        else:
            waiting[key] = pieces
    for frame in kept:
        if frame.number in joined:
            yield joined[frame.number]
        elif frame.number not in swallowed:
            yield frame


def _piece(frame: Frame) -> tuple[Hashable, IpLayer] | None:
    """Return what pieces of one packet at one place have in common, and the header; None if it is not a piece."""
    start = _ip_start(frame)
    if start is None or len(frame.data) < start + 20:
        return None
    if not int.from_bytes(frame.data[start + _FLAGS_AT : start + _FLAGS_AT + 2], "big") & 0x3FFF:
        return None  # nearly every frame: cheaper than parsing its header
    layer = parse_ipv4(frame.data, start, len(frame.data))
    if layer is None or not (layer.checksum_ok and layer.complete):
        return None
    ip = layer.header
    place = frame.where, frame.direction, frame.data[: start - 2 if start else 0]
    return (*place, ip.source, ip.destination, ip.protocol, ip.identification), layer


def _ip_start(frame: Frame) -> int | None:
    if frame.link_type is LinkType.RAW_IP:
        return 0 if frame.data[:1] and frame.data[0] >> 4 == 4 else None
    return _ETHERNET_BYTES if frame.data[_ETHERNET_BYTES - 2 : _ETHERNET_BYTES] == _IPV4_TYPE else None


def _is_whole(pieces: list[tuple[Frame, IpLayer]]) -> bool:
    reached = 0
    for _, layer in _in_order(pieces):
        if layer.header.fragment_offset != reached:
            return False
        reached += layer.end - layer.start
    return not _in_order(pieces)[-1][1].header.more_fragments


def _in_order(pieces: list[tuple[Frame, IpLayer]]) -> list[tuple[Frame, IpLayer]]:
    return sorted(pieces, key=lambda piece: piece[1].header.fragment_offset)


def _whole(last: Frame, pieces: list[tuple[Frame, IpLayer]]) -> Frame:
    """Return the packet under the header of its first piece, without the marks of fragmentation."""
    ordered = _in_order(pieces)
    first, layer = ordered[0]
    start = _ip_start(first) or 0
    payload = b"".join(frame.data[each.start : each.end] for frame, each in ordered)
    header = bytearray(first.data[start : layer.start])
    header[_TOTAL_AT : _TOTAL_AT + 2] = (len(header) + len(payload)).to_bytes(2, "big")
    header[_FLAGS_AT : _FLAGS_AT + 2] = bytes(2)
    header[_CHECKSUM_AT : _CHECKSUM_AT + 2] = bytes(2)
    header[_CHECKSUM_AT : _CHECKSUM_AT + 2] = (0xFFFF - word_sum(bytes(header))).to_bytes(2, "big")
    data = first.data[:start] + bytes(header) + payload
    fragments = tuple(
        Fragment(frame.number, each.header.identification, each.header.fragment_offset, each.end - each.start)
        for frame, each in ordered
    )
    ready = all(frame.checksum_ready for frame, _ in pieces)
    return replace(last, data=data, wire_bytes=len(data), checksum_ready=ready, fragments=fragments)
