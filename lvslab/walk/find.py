"""From a capture to its walks."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import chain

from lvslab.capture.bulk import collector_paused
from lvslab.capture.dissect import GUE_PORTS
from lvslab.capture.fragments import join_fragments
from lvslab.capture.frame import Capture
from lvslab.walk.conversations import group_conversations
from lvslab.walk.correlate import correlate
from lvslab.walk.model import Unmatched, Walk, Walks
from lvslab.walk.names import learn_names
from lvslab.walk.sight import make_observer


def find_walks(
    capture: Capture, *, labels: Mapping[str, str] | None = None, gue_ports: AbstractSet[int] = GUE_PORTS
) -> Walks:
    """Join the frames of a capture into walks and conversations.

    `labels` names IP addresses (VIP, RIP1, …) for those who print the walks; `gue_ports` are the UDP ports on
    which real servers expect GUE.
    """
    with collector_paused():
        walks, unmatched = _join(capture, gue_ports)
        hop_groups = chain((walk.hops for walk in walks), (rest.hops for rest in unmatched))
        return Walks(walks, unmatched, group_conversations(walks), learn_names(hop_groups, labels))


def _join(capture: Capture, gue_ports: AbstractSet[int]) -> tuple[tuple[Walk, ...], tuple[Unmatched, ...]]:
    look = make_observer(gue_ports)
    found = correlate((frame, look(frame)) for frame in join_fragments(capture.frames))
    return found.walks, found.unmatched
