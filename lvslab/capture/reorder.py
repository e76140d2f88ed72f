"""Merging the rings' frames into one order of time while they still come.

Each ring is in order by itself, but hands over what it has only when a block is full or old enough. A frame is
therefore held back for a while: whatever is earlier and still under way comes meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush

from lvslab.capture.frame import FrameFields


class ReorderWindow:
    """Frames held back for `window_s` seconds after they came, then let go in order of time.

    One that comes still later than that is let go at once, behind frames that were recorded after it.
    """

    def __init__(self, window_s: float) -> None:
        self._window_s = window_s
        self._held: list[tuple[int, int, FrameFields]] = []
        """A heap by time, then by order of arrival."""
        self._due: deque[tuple[float, int]] = deque()
        """When frames up to which time are to be let go, in order of arrival."""
        self._arrived = 0

    def add(self, fields: FrameFields, now_s: float) -> None:
        """Hold a frame that came at `now_s` of a clock that never goes back."""
        time_ns = fields[0]
        heappush(self._held, (time_ns, self._arrived, fields))
        self._arrived += 1
        self._due.append((now_s + self._window_s, time_ns))

    @property
    def next_s(self) -> float | None:
        """When the next frame is to be let go, None if none is held."""
        return self._due[0][0] if self._due else None

    def release(self, now_s: float) -> Iterator[FrameFields]:
        """Yield the frames that are due, and those recorded before them."""
        horizon_ns = -1
        while self._due and self._due[0][0] <= now_s:
            horizon_ns = max(horizon_ns, self._due.popleft()[1])
        while self._held and self._held[0][0] <= horizon_ns:
            yield heappop(self._held)[2]
