"""Order for frames of one moment: a frame is sent before it is received.

Where time is virtual it stands still while a packet passes through a whole network, so that frames of many nodes
carry the same time. Each node's own are in order, since one ring recorded them; those of several nodes are merged.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from lvslab.capture.frame import Direction, FrameFields

_TIME: Final = 0
_NODE: Final = 1
_DIRECTION: Final = 3
_DATA: Final = 5


def in_causal_order(frames: Iterable[FrameFields]) -> Iterator[FrameFields]:
    """Yield frames in order of time; those of one node and one moment must come in the order of their ring."""
    for _, moment in groupby(sorted(frames, key=itemgetter(_TIME)), key=itemgetter(_TIME)):
        simultaneous = list(moment)
        yield from simultaneous if len(simultaneous) == 1 else _merge(simultaneous)


def _merge(frames: Sequence[FrameFields]) -> Iterator[FrameFields]:
    queues: dict[str, deque[FrameFields]] = {}
    for frame in frames:
        queues.setdefault(frame[_NODE], deque()).append(frame)
    unsent = Counter(frame[_DATA] for frame in frames if frame[_DIRECTION] is Direction.OUT)
    sent: set[bytes] = set()
    while queues:
        chosen = _next(queues, unsent, sent)
        if chosen[_DIRECTION] is Direction.OUT:
            unsent[chosen[_DATA]] -= 1
            sent.add(chosen[_DATA])
        yield chosen
        queue = queues[chosen[_NODE]]
        queue.popleft()
        if not queue:
            del queues[chosen[_NODE]]


def _next(queues: dict[str, deque[FrameFields]], unsent: Counter[bytes], sent: set[bytes]) -> FrameFields:
    """Choose among the nodes' next frames: first one that was sent already, so that each packet's way stays whole.

    One whose sending was not recorded, as inside a tunnel, waits for nobody.
    """
    heads = [queue[0] for queue in queues.values()]
    received = [head for head in heads if head[_DIRECTION] is not Direction.OUT]
    arrived = [head for head in received if head[_DATA] in sent or not unsent[head[_DATA]]]
    leaving = [head for head in heads if head[_DIRECTION] is Direction.OUT]
    return (arrived or leaving or heads)[0]
