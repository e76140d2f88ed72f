"""Live captures: ring blocks streamed to a client as they fill, beside the recorder and beside each other.

A capture is a channel. Records as in the spool file travel in STREAM frames, at most what the client has granted
(GRANT frames), oldest block first. While nothing is granted the rings fill, and the kernel then counts what it
drops: a slow reader costs frames, never memory. SIGNAL ends the capture; EXIT, the last frame, says what was lost.
"""

from __future__ import annotations

import json
import selectors
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from lvslab.agent.namespaces import Namespaces
from lvslab.agent.ring import LONGEST_FILLING_S, Ring
from lvslab.agent.sessions import READ_BYTES, Send, SendOn
from lvslab.agent.wire import CLIENT_SHIFT, GRANT_PAYLOAD, OUTPUT_WINDOW_BYTES, STDOUT, Kind, WireFrame

Repeat = Callable[[float, Callable[[], bool]], object]
"""Calls an action after so many seconds, and again until it returns True."""


class LiveCapture:
    """One capture: its rings, and what its client has granted."""

    def __init__(self, selector: selectors.BaseSelector, send: Send, rings: Sequence[Ring]) -> None:
        self._selector = selector
        self._send = send
        self._rings = rings
        self._credit = OUTPUT_WINDOW_BYTES
        self._watching = False
        self._watch(wanted=True)

    def grant(self, count: int) -> None:
        self._credit += count
        self._pump()

    def refuse_more(self) -> None:
        for ring in self._rings:
            ring.refuse_more()

    def sent_all(self) -> bool:
        """Send what may be sent; return whether the rings are empty then."""
        self._pump()
        return not any(ring.has_block for ring in self._rings)

    def close(self) -> None:
        self._watch(wanted=False)
        for ring in self._rings:
            ring.close()

    def losses(self) -> dict[str, int]:
        """Return the number of frames lost, by node; read it once, at the end."""
        lost: dict[str, int] = {}
        for ring in self._rings:
            lost[ring.node] = lost.get(ring.node, 0) + ring.loss().dropped
        return lost

    def _ready(self, ring: Ring, _events: int) -> None:
        if self._watching:  # another event of the same round may have closed the ring
            ring.clear_error()
            self._pump()

    def _pump(self) -> None:
        while self._credit > 0:
            ready = [ring for ring in self._rings if ring.has_block]
            if not ready:
                break
            min(ready, key=lambda ring: ring.first_time).take(self._send_record)
        self._watch(wanted=self._credit > 0)

    def _send_record(self, head: bytes, block: memoryview) -> None:
        record = head + block
        self._credit -= len(record)
        for start in range(0, len(record), READ_BYTES):
            self._send(Kind.STREAM, bytes([STDOUT]) + record[start : start + READ_BYTES])

    def _watch(self, *, wanted: bool) -> None:
        """Wait for blocks only while they may be sent."""
        if wanted == self._watching:
            return
        for ring in self._rings:
            if wanted:
                self._selector.register(ring.socket, selectors.EVENT_READ, partial(self._ready, ring))
            else:
                self._selector.unregister(ring.socket)
        self._watching = wanted


class LiveCaptures:
    """All live captures of one lab, by channel."""

    def __init__(self, selector: selectors.BaseSelector, send: SendOn, namespaces: Namespaces, repeat: Repeat) -> None:
        self._selector = selector
        self._send = send
        self._namespaces = namespaces
        self._repeat = repeat
        self._captures: dict[int, LiveCapture] = {}

    def open(self, channel: int, fields: Mapping[str, Any]) -> None:
        """Begin a capture of `rings`: node, interface (empty: all) and size of each. Raises OSError."""
        rings: list[Ring] = []
        try:
            for index, (node, interface, ring_bytes) in enumerate(fields["rings"]):
                rings.append(Ring(self._namespaces, node, index, ring_bytes, interface))
        except OSError:
            for ring in rings:
                ring.close()
            raise
        self._captures[channel] = LiveCapture(self._selector, partial(self._send, channel), rings)

    @property
    def any_open(self) -> bool:
        return bool(self._captures)

    def take(self, frame: WireFrame) -> bool:
        """Take a frame of a capture's client; return False if it is for no capture."""
        capture = self._captures.get(frame.channel)
        if capture is None:
            return False
        if frame.kind is Kind.GRANT:
            capture.grant(GRANT_PAYLOAD.unpack(frame.payload)[0])
        elif frame.kind is Kind.SIGNAL:
            self._end(frame.channel, capture)
        return True

    def hang_up(self, client: int) -> None:
        """Close the captures of a client that is gone."""
        for channel in [channel for channel in self._captures if channel >> CLIENT_SHIFT == client]:
            self._captures.pop(channel).close()

    def _end(self, channel: int, capture: LiveCapture) -> None:
        """Record no more; when the last block has been sent, say what was lost."""
        capture.refuse_more()

        def finish() -> bool:
            if self._captures.get(channel) is not capture:
                return True
            if not capture.sent_all():
                return False
            del self._captures[channel]
            self._send(channel, Kind.EXIT, json.dumps({"dropped": capture.losses()}).encode())
            capture.close()
            return True

        self._repeat(LONGEST_FILLING_S, finish)
