"""A packet as boxes in boxes: what is in them, and what is marked against the hop before."""

from __future__ import annotations

import pytest

from lvslab.capture.dissect import dissect
from lvslab.capture.frame import Capture, Direction
from lvslab.report.html.headers import Header, State, header_stack
from lvslab.report.html.phrases import page_phrases
from lvslab.walk import find_walks
from lvslab.walk.changes import changes_between
from lvslab.walk.model import Hop, Names, Walk
from lvslab.walk.phrases import Language
from tests.unit.walk import build
from tests.unit.walk.build import Scene, framed, udp

ENGLISH = page_phrases(Language.ENGLISH)


def first_request(capture: Capture) -> Walk:
    return next(item for item in find_walks(capture).conversations if item.protocol == "tcp").requests[0]


def stack(hop: Hop, before: Hop | None) -> tuple[Header, ...]:
    return header_stack(hop.packet, before.packet if before else None, Names(), ENGLISH)


def changed(headers: tuple[Header, ...]) -> dict[tuple[str, str], tuple[str, str]]:
    """Old and new value by header and field."""
    return {
        (header.key, field.label): (field.old.text, field.value.text)
        for header in headers
        for field in header.fields
        if field.old is not None
    }


def test_boxes_stand_from_the_outside_in() -> None:
    walk = next(item for item in find_walks(build.nat()).conversations if item.protocol == "tcp").requests[2]
    assert [header.key for header in stack(walk.origin, None)] == ["ethernet", "ip", "tcp", "payload"]
    assert not changed(stack(walk.origin, None))


def test_nat_marks_the_destinations_address_and_port_and_nothing_else_of_them() -> None:
    walk = first_request(build.nat())
    at_director = walk.hops[2]
    found = changed(stack(at_director, walk.before(at_director)))
    assert found["ip", "destination"] == (build.NAT_VIP[0], build.NAT_RIP[0])
    assert found["tcp", "destination port"] == ("80", "8080")
    assert found["ip", "TTL"] == ("64", "63")
    assert ("ip", "source") not in found
    assert ("tcp", "source port") not in found


def test_an_outer_header_is_put_on_carried_and_taken_off() -> None:
    walk = first_request(build.tun())
    states = [{header.key: header.state for header in stack(hop, walk.before(hop))} for hop in walk.hops]
    outer = [each.get("outer0") for each in states]
    first = outer.index(State.ADDED)
    assert outer[:first] == [None] * first
    assert outer[first:] == [State.ADDED, State.KEPT, State.KEPT, State.KEPT, State.REMOVED]


def test_what_was_taken_off_stands_where_it_was() -> None:
    walk = first_request(build.tun())
    last = walk.hops[-1]
    assert [header.key for header in stack(last, walk.before(last))] == ["ethernet", "outer0", "ip", "tcp"]


@pytest.mark.parametrize("capture", [build.nat(), build.dr(), build.tun()], ids=["nat", "dr", "tun"])
def test_a_hop_has_marks_if_and_only_if_the_walk_names_changes(capture: Capture) -> None:
    hops = 0
    for walk in find_walks(capture).walks:
        for hop in walk.hops[1:]:
            before = walk.before(hop)
            assert before is not None
            headers = stack(hop, before)
            marked = bool(changed(headers)) or any(header.state is not State.KEPT for header in headers)
            assert marked == bool(changes_between(before, hop, Names()))
            hops += 1
    assert hops


def test_a_checksum_that_breaks_is_marked() -> None:
    scene = Scene()
    good = framed("client:eth0", "rs1:eth0", udp(("192.0.2.1", 1), ("192.0.2.2", 2), b"x"))
    bad = good.copy()
    bad["UDP"].chksum ^= 1
    right, wrong = (dissect(scene.see("client:eth0", Direction.OUT, frame)) for frame in (good, bad))
    found = changed(header_stack(wrong, right, Names(), ENGLISH))
    assert found == {("udp", "udp checksum"): ("right", "wrong")}


def test_names_stand_beside_numbers() -> None:
    walk = first_request(build.dr())
    names = Names(macs={build.mac("client:eth0"): "client"}, terms={build.CLIENT: "CIP"})
    ethernet, ip, *_ = header_stack(walk.origin.packet, None, names, ENGLISH)
    assert (ethernet.fields[0].value.name, ethernet.fields[0].value.text) == ("client", build.mac("client:eth0"))
    assert (ip.fields[0].value.name, ip.fields[0].value.text) == ("CIP", build.CLIENT)
