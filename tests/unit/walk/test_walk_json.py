"""Walks as JSON."""

from __future__ import annotations

import json
from typing import Any

from lvslab.capture.frame import Capture, Direction
from lvslab.report.json_report import to_text
from lvslab.report.walk_json import walks_document
from lvslab.walk import find_walks
from tests.unit.walk import build
from tests.unit.walk.build import Scene, framed, udp


def document(capture: Capture) -> Any:
    return json.loads(to_text(walks_document(find_walks(capture))))


def test_a_hop_says_where_when_what_and_what_changed() -> None:
    (connection,) = (c for c in document(build.tun())["conversations"] if c["protocol"] == "tcp")
    assert connection["responder"] == {"address": "203.0.113.100", "port": 80}
    first, *_, sent, _, _, _, inner = connection["requests"][0]["hops"]
    assert (first["step"], first["previous"], first["changes"]) == ("origin", None, [])
    assert (sent["node"], sent["interface"], sent["direction"], sent["frame"]) == ("director", "eth0", "out", 5)
    assert sent["time_ns"] == build.START_NS + 40_000
    assert sent["tunnels"] == [{"kind": "ipip", "source": "203.0.113.2", "destination": "198.18.0.11", "ttl": 62}]
    assert {"field": "inner TTL", "old": "63", "new": "62"} in sent["changes"]
    assert (inner["interface"], inner["source_mac"], inner["ttl"]) == ("tunl0", None, 62)


def test_arp_and_the_unmatched_are_there_too() -> None:
    (arp,) = (c for c in document(build.dr())["conversations"] if c["protocol"] == "arp")
    assert arp["requests"][0]["hops"][0]["arp"]["target_ip"] == "192.0.2.100"
    scene = Scene()
    stranger = framed("stranger:eth0", "rs1:eth0", udp(("192.0.2.1", 1), ("192.0.2.2", 2), b"x"))
    scene.see("rs1:eth0", Direction.IN, stranger)
    (rest,) = document(scene.capture())["unmatched"]
    assert [hop["frame"] for hop in rest["hops"]] == [1]
