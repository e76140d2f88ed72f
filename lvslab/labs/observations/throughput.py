"""How much a service gives, and how much of it a card carries."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from lvslab.labs.node_names import NodeName
from lvslab.labs.registry import Observed, observation
from lvslab.labs.view import LOAD_S, View
from lvslab.labs.words import words
from lvslab.topology.document import Connections, Entry

_RECEIVED, _SENT = 0, 8
"""Columns of /proc/net/dev that hold bytes (proc_pid_net(5))."""


class Throughput(Entry):
    """What the first client gets over so many connections at once, in kbit/s; or how many times what `than` gives."""

    vip: str | None = None
    connections: Connections
    than: str | None = Field(default=None, description="another VIP: its throughput is 1")


@observation("throughput", Throughput)
def throughput(view: View, wanted: Throughput) -> Observed | None:
    load = view.load(wanted.vip, wanted.connections)
    if not load.bytes:
        return None
    seen = words("over {n} connections", "经 {n} 个连接", n=wanted.connections)
    if wanted.than is None:
        return Observed(str(round(load.bit_s / 1000)), seen, view.client)
    other = view.load(wanted.than, wanted.connections)
    return Observed(str(round(load.bit_s / other.bit_s)), seen, view.client) if other.bytes else None


class CardShare(Entry):
    """How many bytes a node's card carries for each 1000 bytes of answers that the first client gets meanwhile."""

    node: NodeName
    device: str = "eth0"
    direction: Literal["in", "out"]
    vip: str | None = None
    connections: Connections


@observation("card-share", CardShare)
def card_share(view: View, wanted: CardShare) -> Observed | None:
    service, client = view.service(wanted.vip), view.lab.node(view.client)
    before = _bytes(view, wanted)
    # Without a warm-up, so that both count the same packets.
    load = client.load(str(service.vip), service.port, connections=wanted.connections, seconds=LOAD_S)
    if not load.bytes:
        return None
    carried = _bytes(view, wanted) - before
    seen = words(
        "{carried} bytes beside {all} of answers",
        "应答 {all} 字节，经过 {carried} 字节",
        carried=carried,
        all=load.bytes,
    )
    return Observed(str(round(1000 * carried / load.bytes)), seen, f"{wanted.node}:{wanted.device}")


def _bytes(view: View, wanted: CardShare) -> int:
    for line in view.run(wanted.node, "cat", "/proc/net/dev").output.splitlines():
        device, _, counters = line.partition(":")
        if device.strip() == wanted.device:
            return int(counters.split()[_RECEIVED if wanted.direction == "in" else _SENT])
    raise LookupError(f"{wanted.node} has no device {wanted.device}")
