"""Walks of packets in pieces: a node that cuts, one that passes the pieces on, one that puts them together."""

from __future__ import annotations

from typing import Any

from scapy.layers.inet import IP, UDP, fragment

from lvslab.capture.frame import Direction, LinkType
from lvslab.walk import find_walks
from lvslab.walk.changes import changes_between, describe
from lvslab.walk.model import Step
from lvslab.walk.phrases import Language
from lvslab.walk.words import Field
from tests.unit.walk.build import Scene

DATAGRAM = IP(src="198.51.100.10", dst="192.0.2.100", id=9) / UDP(sport=4000, dport=53) / (b"x" * 1472)


def wrapped(ttl: int) -> Any:
    inner = DATAGRAM.copy()
    inner.ttl = ttl
    return IP(src="203.0.113.2", dst="198.18.0.11", id=5, ttl=ttl, proto=4) / inner


def scene() -> Scene:
    made = Scene()
    made.send("client:eth0", "director:eth0", DATAGRAM)
    for piece in fragment(wrapped(63), fragsize=1480):
        made.send("director:eth0", "rs1:eth0", piece)
    inner = DATAGRAM.copy()
    inner.ttl = 63
    made.see("rs1:tunl0", Direction.IN, inner, LinkType.RAW_IP)
    return made


def test_a_packet_in_pieces_is_one_walk() -> None:
    walks = find_walks(scene().capture())
    assert walks.unmatched == ()
    (walk,) = walks.walks
    assert [(hop.node, hop.step, len(hop.frame.fragments)) for hop in walk.hops] == [
        ("client", Step.ORIGIN, 0),
        ("director", Step.CROSSED, 0),
        ("director", Step.FORWARDED, 2),
        ("rs1", Step.CROSSED, 2),
        ("rs1", Step.STACKED, 0),
    ]


def test_cutting_and_putting_together_are_said() -> None:
    walks = find_walks(scene().capture())
    (walk,) = walks.walks
    _, entry, cut, arrived, whole = walk.hops
    assert "sent in 2 fragments (id 5: 0–1479 in frame 3, 1480–1499 in frame 5)" in describe(entry, cut, walks.names)
    assert "put together from 2 fragments" in describe(arrived, whole, walks.names)
    assert "2 个分片（标识 5" in describe(entry, cut, walks.names, Language.CHINESE)
    assert Field.FRAGMENTS not in {change.field for change in changes_between(cut, arrived, walks.names)}


def test_without_one_piece_the_walk_ends_where_it_was_cut() -> None:
    frames = scene().frames
    capture = Scene(frames=frames[:5]).capture()
    walks = find_walks(capture)
    assert [hop.node for hop in walks.walks[0].hops] == ["client", "director", "director"]
    (rest,) = walks.unmatched
    assert [(hop.node, hop.packet.ip and hop.packet.ip.more_fragments) for hop in rest.hops] == [("rs1", True)]
