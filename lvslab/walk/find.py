"""From a capture to its walks."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import chain

from lvslab.capture.bulk import collector_paused
from lvslab.capture.dissect import GUE_PORTS, dissect
from lvslab.capture.frame import Capture
from lvslab.walk.conversations import group_conversations
from lvslab.walk.correlate import correlate
from lvslab.walk.model import Walks
from lvslab.walk.names import learn_names


def find_walks(
    capture: Capture, *, labels: Mapping[str, str] | None = None, gue_ports: AbstractSet[int] = GUE_PORTS
) -> Walks:
    """Join the frames of a capture into walks and conversations.

    `labels` names IP addresses (VIP, RIP1, …) for those who print the walks; `gue_ports` are the UDP ports on
    which real servers expect GUE.
    """
    with collector_paused():
        found = correlate((frame, dissect(frame, gue_ports)) for frame in capture.frames)
        walks, unmatched = found.walks, found.unmatched
        hop_groups = chain((walk.hops for walk in walks), (rest.hops for rest in unmatched))
        return Walks(walks, unmatched, group_conversations(walks), learn_names(hop_groups, labels))
