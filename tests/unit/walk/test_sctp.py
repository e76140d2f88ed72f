"""SCTP associations as walks: joined across translation, grouped, and said in words."""

from __future__ import annotations

from typing import Any

import pytest
from scapy.layers.l2 import Ether
from scapy.layers.sctp import SCTPChunkCookieEcho, SCTPChunkData, SCTPChunkInit, SCTPChunkSACK

from lvslab.capture.dissect import dissect
from lvslab.capture.frame import Direction
from lvslab.walk import find_walks
from lvslab.walk.changes import changes_between, describe
from lvslab.walk.model import Conversation, Hop, Names, Step, Walks
from lvslab.walk.phrases import Language
from lvslab.walk.select import connections
from lvslab.walk.words import Field, packet_title
from tests.unit.capture.frames import frame
from tests.unit.walk import build
from tests.unit.walk.build import CLIENT, Scene, changed, sctp

VIP, RIP = ("198.51.100.100", 3868), ("192.0.2.11", 13868)
TITLES = {
    "requests": ["SCTP INIT", "SCTP COOKIE ECHO", "SCTP DATA, 8 bytes", "SCTP SACK", "SCTP SHUTDOWN ACK"],
    "replies": [
        *("SCTP INIT ACK", "SCTP COOKIE ACK", "SCTP SACK", "SCTP DATA, 12 bytes"),
        *("SCTP SHUTDOWN", "SCTP SHUTDOWN COMPLETE"),
    ],
}


def through_nat(ports: int = 1) -> Walks:
    def request(scene: Scene, packet: Any) -> None:
        scene.send("client:eth0", "director:eth0", packet)
        scene.send("director:eth1", "rs1:eth0", changed(packet, dst=RIP[0], dport=RIP[1]))

    def reply(scene: Scene, packet: Any) -> None:
        scene.send("rs1:eth0", "director:eth1", changed(packet, ttl=0, src=RIP[0], sport=RIP[1]))
        scene.send("director:eth0", "client:eth0", changed(packet))

    scene = Scene()
    for number in range(ports):
        build.association(scene, request, reply, VIP, build.CLIENT_PORT + number)
    return find_walks(scene.capture())


def test_an_association_through_nat_is_one_conversation() -> None:
    walks = through_nat(ports=2)
    assert walks.unmatched == ()
    first, second = connections(walks)
    assert (first.protocol, str(first.initiator), str(first.responder)) == (
        "sctp",
        "198.51.100.10:40000",
        "198.51.100.100:3868",
    )
    assert str(second.initiator) == "198.51.100.10:40001"
    assert {walk.nodes for walk in first.requests} == {("client", "director", "rs1")}
    assert {walk.nodes for walk in first.replies} == {("rs1", "director", "client")}
    for side, titles in TITLES.items():
        assert [packet_title(walk.origin.packet, walks.names) for walk in getattr(first, side)] == titles


def test_a_repeated_init_stays_and_a_reused_port_begins_anew() -> None:
    scene = Scene()
    for tag, ident in ((100, 1), (100, 2), (999, 3)):
        init = sctp((CLIENT, 40000), VIP, SCTPChunkInit(init_tag=tag), tag=0, ident=ident)
        scene.send("client:eth0", "director:eth0", init)
        scene.wait(3)
    found: list[Conversation] = list(connections(find_walks(scene.capture())))
    assert [len(conversation.requests) for conversation in found] == [2, 1]


def hop(node: str, packet: Any, *, checksum_ready: bool = True) -> Hop:
    ether = Ether(src=build.mac("client:eth0"), dst=build.mac("director:eth0"))
    seen = frame(ether / packet, node=node, direction=Direction.OUT, checksum_ready=checksum_ready)
    return Hop(seen, dissect(seen), Step.FORWARDED, None)


BEFORE = sctp((CLIENT, 40000), VIP, SCTPChunkData(data=b"question"), tag=5)


def test_a_rewritten_address_leaves_the_checksum_and_a_rewritten_port_does_not() -> None:
    to_address = changed(BEFORE, ttl=0, dst=RIP[0])
    to_port = changed(BEFORE, ttl=0, dst=RIP[0], dport=RIP[1])
    fields = [
        [change.field for change in changes_between(hop("client", BEFORE), hop("director", after), Names())]
        for after in (to_address, to_port)
    ]
    assert fields == [[Field.DESTINATION], [Field.DESTINATION, Field.SCTP_CHECKSUM]]
    said = describe(hop("client", BEFORE), hop("director", to_port), Names())
    assert "port rewritten 198.51.100.100:3868 → 192.0.2.11:13868; SCTP checksum 0x" in said
    assert said.endswith("payload unchanged")
    assert "SCTP 校验和 0x" in describe(hop("client", BEFORE), hop("director", to_port), Names(), Language.CHINESE)


def test_a_checksum_left_to_hardware_is_not_compared() -> None:
    after = hop("director", changed(BEFORE, ttl=0, dst=RIP[0], dport=RIP[1]))
    (change,) = changes_between(hop("client", BEFORE, checksum_ready=False), after, Names())
    assert change.field is Field.DESTINATION


@pytest.mark.parametrize(
    ("after", "field", "old", "new"),
    [
        (
            sctp((CLIENT, 40000), VIP, SCTPChunkData(data=b"question"), tag=6),
            Field.VERIFICATION_TAG,
            "0x00000005",
            "0x00000006",
        ),
        (
            sctp((CLIENT, 40000), VIP, SCTPChunkSACK(), SCTPChunkData(data=b"question"), tag=5),
            Field.CHUNKS,
            "DATA",
            "SACK, DATA",
        ),
    ],
)
def test_what_nobody_should_rewrite_is_said(after: Any, field: Field, old: str, new: str) -> None:
    changes = changes_between(hop("client", BEFORE), hop("director", after), Names())
    assert (field, old, new) in [(change.field, change.old, change.new) for change in changes]


def test_several_chunks_are_named_in_order() -> None:
    packet = sctp((CLIENT, 40000), VIP, SCTPChunkCookieEcho(cookie=b"abc"), SCTPChunkData(data=b"hi"), tag=5)
    assert packet_title(hop("client", packet).packet, Names()) == "SCTP COOKIE ECHO, DATA, 2 bytes"
