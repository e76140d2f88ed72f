"""One frame in full, as scapy shows it: for ``-v`` and for people who want every field."""

from __future__ import annotations

from lvslab.capture.frame import Frame, LinkType


def show(frame: Frame) -> str:
    """Return scapy's dissection of the frame as text."""
    # Imported here because it is slow to import, and most commands never show a frame in full.
    from scapy.layers import inet, inet6, l2

    if frame.link_type is LinkType.ETHERNET:
        packet = l2.Ether(frame.data)
    elif frame.data[:1] and frame.data[0] >> 4 == 6:
        packet = inet6.IPv6(frame.data)
    else:
        packet = inet.IP(frame.data)
    return str(packet.show(dump=True))
