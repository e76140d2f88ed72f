"""What the network says to a packet that is too large."""

from __future__ import annotations

from pydantic import Field

from lvslab.capture.dissect import dissect
from lvslab.capture.frame import Direction
from lvslab.capture.packet import Icmp
from lvslab.labs.large_request import send_large_request
from lvslab.labs.node_names import NodeName
from lvslab.labs.registry import Observed, observation
from lvslab.labs.view import View
from lvslab.labs.words import frame_at
from lvslab.topology.document import Entry

_NEED_FRAGMENTATION = (3, 4)
"""ICMP type and code (RFC 792); the next hop's MTU is in its last four bytes (RFC 1191)."""


class ToldMtu(Entry):
    """The MTU that an ICMP "fragmentation needed" tells the client of, after a request of so many bytes."""

    client: NodeName | None = None
    size_bytes: int = Field(default=4000, ge=1, le=60000)


@observation("told-mtu", ToldMtu)
def told_mtu(view: View, wanted: ToldMtu) -> Observed | None:
    client = wanted.client or view.client
    with view.lab.record() as recording:
        send_large_request(view, client, wanted.size_bytes)
    for frame in recording.finished().frames:
        if frame.node != client or frame.direction is not Direction.IN:
            continue
        transport = dissect(frame).transport
        if isinstance(transport, Icmp) and transport[:2] == _NEED_FRAGMENTATION:
            seen = frame_at(frame.number, frame.where)
            return Observed(str(transport.rest), seen, frame.where, (frame.number,))
    return None
