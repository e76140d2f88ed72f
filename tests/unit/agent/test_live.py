"""Live captures in the agent: what a slow client costs, and whom."""

from __future__ import annotations

import json
import selectors
import socket
from collections.abc import Callable, Iterator

import pytest

from lvslab.agent import live
from lvslab.agent.live import LiveCapture, LiveCaptures
from lvslab.agent.namespaces import Namespaces
from lvslab.agent.ring import Loss, Ring, WriteBlock
from lvslab.agent.wire import CLIENT_SHIFT, GRANT_PAYLOAD, OUTPUT_WINDOW_BYTES, Kind, WireFrame

HEAD = b"head"
BIG = OUTPUT_WINDOW_BYTES - len(HEAD)
"""A block that uses up all that is granted at the beginning."""


class FakeRing(Ring):
    """Blocks, each with its time, as if a kernel had filled them."""

    def __init__(self, node: str, *blocks: tuple[int, bytes]) -> None:
        self.node = node
        self.blocks = list(blocks)
        self.lost = 0
        self.refused = self.closed = False
        self.socket, self.kernel = socket.socketpair()
        self.kernel.send(b"a block")

    @property
    def has_block(self) -> bool:
        return bool(self.blocks)

    @property
    def first_time(self) -> tuple[int, int]:
        return self.blocks[0][0], 0

    def take(self, write: WriteBlock) -> int:
        write(HEAD, memoryview(self.blocks.pop(0)[1]))
        return 1

    def refuse_more(self) -> None:
        self.refused = True

    def loss(self) -> Loss:
        return Loss(0, self.lost)

    def close(self) -> None:
        self.closed = True
        self.socket.close()
        self.kernel.close()


@pytest.fixture
def selector() -> Iterator[selectors.BaseSelector]:
    with selectors.DefaultSelector() as selector:
        yield selector


def serve(selector: selectors.BaseSelector) -> int:
    """Take what is ready, once; return how many descriptors were."""
    ready = selector.select(0)
    for key, events in ready:
        key.data(events)
    return len(ready)


def blocks_of(sent: list[tuple[Kind, bytes]]) -> bytes:
    return b"".join(payload[1:] for kind, payload in sent if kind is Kind.STREAM)


def test_the_oldest_block_of_all_rings_goes_first(selector: selectors.BaseSelector) -> None:
    sent: list[tuple[Kind, bytes]] = []
    rings = [FakeRing("a", (3, b"3"), (4, b"4")), FakeRing("b", (1, b"1"), (5, b"5"))]
    LiveCapture(selector, lambda kind, payload: sent.append((kind, payload)), rings)
    serve(selector)
    assert blocks_of(sent) == b"head1head3head4head5"


def test_a_client_that_grants_nothing_costs_nothing_but_its_own_frames(selector: selectors.BaseSelector) -> None:
    sent: list[tuple[Kind, bytes]] = []
    ring = FakeRing("a", (1, bytes(BIG)), (2, b"next"), (3, b"last"))
    capture = LiveCapture(selector, lambda kind, payload: sent.append((kind, payload)), [ring])
    serve(selector)
    assert len(blocks_of(sent)) == OUTPUT_WINDOW_BYTES
    assert serve(selector) == 0, "the agent is woken for blocks that it may not send"
    capture.grant(1)
    assert blocks_of(sent)[OUTPUT_WINDOW_BYTES:] == b"headnext"
    capture.grant(1000)
    assert blocks_of(sent).endswith(b"headlast")
    assert serve(selector) == 1, "the agent no longer waits for blocks"


class Lab:
    """Captures of a lab with fake rings, and timers that the test runs."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self.sent: list[tuple[int, Kind, bytes]] = []
        self.rings: list[FakeRing] = []
        self.timers: list[Callable[[], bool]] = []
        self.captures = LiveCaptures(selector, self._send, Namespaces(), self._repeat)

    def _send(self, channel: int, kind: Kind, payload: bytes) -> None:
        self.sent.append((channel, kind, payload))

    def _repeat(self, _seconds: float, action: Callable[[], bool]) -> None:
        self.timers.append(action)

    def run_timers(self) -> None:
        self.timers = [action for action in self.timers if not action()]

    def exits(self) -> list[tuple[int, object]]:
        return [(channel, json.loads(payload)) for channel, kind, payload in self.sent if kind is Kind.EXIT]

    def make_ring(self, _namespaces: Namespaces, node: str, _index: int, _ring_bytes: int, interface: str) -> FakeRing:
        if interface == "none":
            raise OSError(19, "No such device")
        self.rings.append(FakeRing(node))
        return self.rings[-1]


@pytest.fixture
def lab(selector: selectors.BaseSelector, monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = Lab(selector)
    monkeypatch.setattr(live, "Ring", lab.make_ring)
    return lab


def order(*taps: tuple[str, str]) -> dict[str, object]:
    return {"rings": [(node, interface, 1 << 17) for node, interface in taps]}


def test_the_end_is_told_when_the_last_block_has_been_sent(lab: Lab) -> None:
    lab.captures.open(7, order(("a", ""), ("b", "eth0"), ("b", "eth1")))
    first, second, third = lab.rings
    second.lost, third.lost = 2, 3
    first.blocks = [(1, bytes(BIG)), (2, b"last")]
    assert lab.captures.take(WireFrame(Kind.SIGNAL, 7, b"\x0f"))
    assert first.refused
    lab.run_timers()
    assert lab.exits() == []
    lab.captures.take(WireFrame(Kind.GRANT, 7, GRANT_PAYLOAD.pack(100)))
    lab.run_timers()
    assert lab.exits() == [(7, {"dropped": {"a": 0, "b": 5}})]
    assert all(ring.closed for ring in lab.rings)
    assert lab.timers == []
    assert not lab.captures.take(WireFrame(Kind.GRANT, 7, GRANT_PAYLOAD.pack(100)))


def test_a_client_that_is_gone_takes_only_its_own_captures_along(lab: Lab) -> None:
    mine, other = 1 << CLIENT_SHIFT | 1, 2 << CLIENT_SHIFT | 1
    lab.captures.open(mine, order(("a", "")))
    lab.captures.open(other, order(("a", "")))
    lab.captures.take(WireFrame(Kind.SIGNAL, mine, b"\x0f"))
    lab.captures.hang_up(1)
    lab.run_timers()
    assert [ring.closed for ring in lab.rings] == [True, False]
    assert lab.exits() == []
    assert lab.timers == []
    assert lab.captures.take(WireFrame(Kind.GRANT, other, GRANT_PAYLOAD.pack(1)))


def test_an_event_that_comes_with_the_end_does_no_harm(lab: Lab, selector: selectors.BaseSelector) -> None:
    lab.captures.open(1, order(("a", "")))
    ((key, events),) = selector.select(0)
    lab.captures.hang_up(0)
    key.data(events)


def test_a_capture_that_cannot_begin_leaves_no_rings(lab: Lab) -> None:
    with pytest.raises(OSError, match="No such device"):
        lab.captures.open(1, order(("a", ""), ("a", "none")))
    assert [ring.closed for ring in lab.rings] == [True]
    assert not lab.captures.take(WireFrame(Kind.GRANT, 1, GRANT_PAYLOAD.pack(1)))
