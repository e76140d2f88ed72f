"""Synthetic captures: what a real one would show, of any length; and the figures made of joining them."""

from __future__ import annotations

from collections import Counter

import pytest

from lvslab.bench.synthetic import FRAMES_PER_CONNECTION, capture_of
from lvslab.bench.walk import Settings, run
from lvslab.capture.dissect import dissect
from lvslab.walk import find_walks


def test_every_frame_is_a_packet_with_right_checksums() -> None:
    packets = [dissect(frame) for frame in capture_of(200).frames]
    assert {packet.bad_checksums for packet in packets} == {()}
    assert {packet.payload[:3] for packet in packets} == {b"", b"GET", b"HTT"}


def test_captures_are_of_whole_connections_through_the_director_and_back_past_it() -> None:
    capture = capture_of(100)
    assert len(capture.frames) == 3 * FRAMES_PER_CONNECTION
    walks = find_walks(capture)
    assert walks.unmatched == ()
    assert len(walks.conversations) == 3
    for conversation in walks.conversations:
        assert {walk.nodes[:3] for walk in conversation.requests} == {("client", "router", "director")}
        assert all("director" not in walk.nodes for walk in conversation.replies)


def test_connections_come_from_ports_of_their_own_and_go_to_all_servers() -> None:
    walks = find_walks(capture_of(16 * FRAMES_PER_CONNECTION))
    assert len({conversation.initiator for conversation in walks.conversations}) == 16
    served = Counter(conversation.requests[0].nodes[-1] for conversation in walks.conversations)
    assert set(served.values()) == {2}
    assert len(served) == 8


def test_the_longest_capture_is_joined_once_and_compared_with_the_shortest() -> None:
    benchmark = run(Settings(sizes=(46, 460), rounds=2))
    (part,) = benchmark.parts
    assert [row[0] for row in part.rows] == [46, 460]
    assert {size: len(seconds) for size, seconds in part.readings.items()} == {"46": 2, "460": 1}
    (linear,) = part.ratios
    few, many = (row[2] for row in part.rows)
    assert isinstance(few, float)
    assert isinstance(many, float)
    assert linear.value == pytest.approx(many / few)
