"""Frames for tests of what reads and writes them."""

from __future__ import annotations

from typing import Any

from lvslab.capture.frame import Direction, Frame, LinkType

TIME_NS = 1_700_000_000_123_456_789


def frame(data: Any, **fields: Any) -> Frame:
    """Return a frame with the bytes of a scapy packet, or with plain bytes."""
    packed = bytes(data)
    values: dict[str, Any] = {
        "number": 1,
        "time_ns": TIME_NS,
        "node": "director",
        "interface": "eth0",
        "direction": Direction.IN,
        "link_type": LinkType.ETHERNET,
        "data": packed,
        "wire_bytes": len(packed),
    }
    return Frame(**(values | fields))


def raw(data: Any, **fields: Any) -> Frame:
    return frame(data, link_type=LinkType.RAW_IP, **fields)
