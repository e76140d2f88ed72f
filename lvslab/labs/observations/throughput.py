"""How much a service gives, and how much of it a card carries."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from lvslab.labs.registry import Observed, observation
from lvslab.labs.view import View
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


class CardLoad(Entry):
    """What a node's card carries, in kbit/s, while the first client fetches over so many connections."""

    node: str
    device: str = "eth0"
    direction: Literal["in", "out"]
    vip: str | None = None
    connections: Connections


@observation("card-load", CardLoad)
def card_load(view: View, wanted: CardLoad) -> Observed | None:
    before, begun = _bytes(view, wanted), view.lab.now()
    # A load of its own: one that was measured earlier would leave nothing to count.
    load = View(view.lab).load(wanted.vip, wanted.connections)
    if not load.bytes:
        return None
    rate = 8 * (_bytes(view, wanted) - before) / (view.lab.now() - begun) / 1000
    seen = words("while the cluster gives {n} kbit/s", "集群给出 {n} kbit/s 时", n=round(load.bit_s / 1000))
    return Observed(str(round(rate)), seen, f"{wanted.node}:{wanted.device}")


def _bytes(view: View, wanted: CardLoad) -> int:
    for line in view.run(wanted.node, "cat", "/proc/net/dev").output.splitlines():
        device, _, counters = line.partition(":")
        if device.strip() == wanted.device:
            return int(counters.split()[_RECEIVED if wanted.direction == "in" else _SENT])
    raise LookupError(f"{wanted.node} has no device {wanted.device}")
