"""Pieces of packets put together; scapy cuts them, and its own reassembly is not asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations

import pytest
from scapy.layers.inet import IP, UDP, fragment
from scapy.layers.l2 import Ether

from lvslab.capture.dissect import dissect
from lvslab.capture.fragments import MAX_PAUSE_NS, join_fragments
from lvslab.capture.frame import Direction, Frame
from tests.unit.walk.build import Scene

PAYLOAD = bytes(range(256)) * 10
WHOLE = IP(src="198.51.100.10", dst="192.0.2.1", id=7) / UDP(sport=1, dport=2) / PAYLOAD
ETHERNET = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")


def pieces(size: int = 1480) -> list[Frame]:
    scene = Scene()
    for piece in fragment(WHOLE, fragsize=size):
        scene.see("client:eth0", Direction.OUT, ETHERNET / piece)
    return scene.frames


def renumbered(frames: Sequence[Frame]) -> list[Frame]:
    return [replace(frame, number=number, time_ns=number) for number, frame in enumerate(frames, 1)]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_pieces_become_the_packet_in_whatever_order_they_come(order: Sequence[int]) -> None:
    cut = pieces(1000)
    assert len(cut) == 3
    (frame,) = join_fragments(renumbered([cut[index] for index in order]))
    assert frame.data == bytes(ETHERNET / WHOLE)
    packet = dissect(frame)
    assert (packet.payload, packet.bad_checksums) == (PAYLOAD, ())
    assert frame.number == 3
    assert [(each.identification, each.offset, each.size) for each in frame.fragments] == [
        (7, 0, 1000),
        (7, 1000, 1000),
        (7, 2000, 568),
    ]
    assert [each.number for each in frame.fragments] == [order.index(index) + 1 for index in range(3)]


def elsewhere(frame: Frame) -> Frame:
    return replace(frame, node="router")


def broken(frame: Frame) -> Frame:
    data = bytearray(frame.data)
    data[14 + 10] ^= 1
    return replace(frame, data=bytes(data))


def late(frame: Frame) -> Frame:
    return replace(frame, time_ns=frame.time_ns + MAX_PAUSE_NS + 1_000_000)


SPOILT: dict[str, Callable[[Frame], Frame]] = {"elsewhere": elsewhere, "broken": broken, "late": late}


@pytest.mark.parametrize("spoil", SPOILT)
def test_pieces_that_do_not_belong_together_stay_pieces(spoil: str) -> None:
    first, second = pieces()
    frames = [first, SPOILT[spoil](second)]
    assert list(join_fragments(frames)) == frames


def test_a_missing_piece_leaves_the_others_as_they_were() -> None:
    first, _, last = pieces(1000)
    assert list(join_fragments([first, last])) == [first, last]


def test_other_frames_keep_their_place_and_are_not_touched() -> None:
    first, second = pieces()
    scene = Scene()
    other = scene.see("client:eth0", Direction.OUT, ETHERNET / IP(src="192.0.2.3", dst="192.0.2.1") / UDP())
    frames = renumbered([other, first, other, second, other])
    joined = list(join_fragments(frames))
    assert [frame.number for frame in joined] == [1, 3, 4, 5]
    assert [bool(frame.fragments) for frame in joined] == [False, False, True, False]
