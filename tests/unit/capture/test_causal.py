"""Frames of one moment come in the order in which one led to the next."""

from __future__ import annotations

import random

import pytest

from lvslab.capture.causal import in_causal_order
from lvslab.capture.frame import Direction, FrameFields, LinkType

IN, OUT, OVERHEARD = Direction.IN, Direction.OUT, Direction.OVERHEARD


def frame(node: str, direction: Direction, data: bytes, time_ns: int = 7) -> FrameFields:
    return (time_ns, node, "eth0", direction, LinkType.ETHERNET, data, len(data), True, None)


WALK = [
    frame("client", OUT, b"syn"),
    frame("router", IN, b"syn"),
    frame("router", OUT, b"syn, nearer"),
    frame("director", IN, b"syn, nearer"),
    frame("director", OUT, b"outer(syn)"),
    frame("rs1", IN, b"outer(syn)"),
    frame("rs1", IN, b"syn, unwrapped"),
    frame("rs1", OUT, b"syn-ack"),
    frame("client", IN, b"syn-ack"),
    frame("client", OUT, b"ack"),
    frame("router", IN, b"ack"),
]


@pytest.mark.parametrize("seed", range(20))
def test_a_packets_way_is_found_whatever_order_the_nodes_were_read_in(seed: int) -> None:
    nodes = sorted({fields[1] for fields in WALK})
    random.Random(seed).shuffle(nodes)
    read = [fields for node in nodes for fields in WALK if fields[1] == node]
    assert list(in_causal_order(read)) == WALK


def test_time_comes_first() -> None:
    late, early = frame("b", IN, b"x", 2), frame("a", OUT, b"x", 3)
    assert list(in_causal_order([early, late])) == [late, early]


def test_a_frame_that_was_flooded_is_received_by_all_after_it_was_sent() -> None:
    read = [frame("a", IN, b"arp"), frame("b", OVERHEARD, b"arp"), frame("c", OUT, b"arp"), frame("c", IN, b"answer")]
    assert [fields[1] for fields in in_causal_order(read)] == ["c", "a", "b", "c"]


def test_frames_that_each_wait_for_the_other_are_kept_all_the_same() -> None:
    read = [frame("a", IN, b"x"), frame("a", OUT, b"y"), frame("b", IN, b"y"), frame("b", OUT, b"x")]
    assert sorted(in_causal_order(read)) == sorted(read)
