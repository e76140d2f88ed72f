"""Which observations become one walk, and which are left unmatched."""

from __future__ import annotations

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import GRE, Ether
from scapy.packet import Raw

from lvslab.capture.frame import Capture, Direction, LinkType
from lvslab.walk import find_walks
from lvslab.walk.model import AMBIGUOUS, NOT_SEEN_TO_LEAVE, Step, Walks
from tests.unit.walk import build
from tests.unit.walk.build import Scene, changed, framed, udp

C1, C2, VIP, RIP = ("198.51.100.10", 4000), ("198.51.100.20", 4000), ("192.0.2.100", 53), ("192.0.2.11", 53)


def routes(walks: Walks) -> list[str]:
    """Return each walk as its nodes."""
    return [" ".join(walk.nodes) for walk in walks.walks]


def frame_numbers(walks: Walks) -> list[tuple[int, ...]]:
    return [walk.frames for walk in walks.walks]


@pytest.mark.parametrize(
    ("capture", "request_route", "reply_route"),
    [
        (build.nat(), "client director rs1", "rs1 director client"),
        (build.dr(), "client router director rs1", "rs1 router client"),
        (build.tun(), "client router director router rs1", "rs1 router client"),
    ],
    ids=["nat", "dr", "tun"],
)
def test_each_forwarding_method_is_joined_from_end_to_end(
    capture: Capture, request_route: str, reply_route: str
) -> None:
    found = find_walks(capture)
    (connection,) = (c for c in found.conversations if c.protocol == "tcp")
    assert {" ".join(walk.nodes) for walk in connection.requests} == {request_route}
    assert {" ".join(walk.nodes) for walk in connection.replies} == {reply_route}
    assert (len(connection.requests), len(connection.replies)) == (4, 3)
    assert found.unmatched == ()
    assert sum(len(walk.hops) for walk in found.walks) == len(capture.frames)


def test_many_connections_at_once_stay_apart() -> None:
    found = find_walks(build.dr(connections=50))
    connections = [c for c in found.conversations if c.protocol == "tcp"]
    assert [str(c.initiator) for c in connections] == [f"198.51.100.10:{40000 + index}" for index in range(50)]
    assert {len(c.walks) for c in connections} == {7}


def test_decapsulation_is_a_step_between_devices() -> None:
    syn = find_walks(build.tun()).walks[0]
    assert [hop.step for hop in syn.hops[-2:]] == [Step.CROSSED, Step.STACKED]
    assert syn.hops[-1].where == "rs1:tunl0"


def test_a_tunnel_device_on_the_sending_side_is_one_walk() -> None:
    scene = Scene()
    inner = udp(C1, VIP, b"q")
    outer = IP(src="203.0.113.2", dst="198.18.0.11") / GRE() / inner
    scene.see("director:gre1", Direction.OUT, inner, LinkType.RAW_IP)
    scene.send("director:eth0", "rs1:eth0", outer)
    scene.see("rs1:gre0", Direction.IN, outer, LinkType.RAW_IP)  # gre0 shows the outer headers
    assert frame_numbers(find_walks(scene.capture())) == [(1, 2, 3, 4)]


def test_gue_is_joined_on_the_given_port() -> None:
    scene = Scene()
    inner = udp(C1, VIP, b"q")
    scene.see("director:eth0", Direction.IN, framed("client:eth0", "director:eth0", inner))
    outer = IP(dst="198.18.0.11") / UDP(dport=5555) / Raw(b"\x00\x04\x00\x00" + bytes(changed(inner)))
    scene.send("director:eth0", "rs1:eth0", outer)
    scene.see("rs1:tunl0", Direction.IN, changed(inner), LinkType.RAW_IP)
    joined = find_walks(scene.capture(), gue_ports=frozenset({5555}))
    assert [[hop.number for hop in rest.hops] for rest in joined.unmatched] == [[1, 2, 3, 4]]
    assert find_walks(scene.capture()).walks


def test_full_nat_is_joined() -> None:
    scene = Scene()
    question = udp(C1, VIP, b"q", ident=7)
    scene.send("client:eth0", "director:eth0", question)
    scene.send("director:eth1", "rs1:eth0", changed(question, src="192.0.2.2", sport=5555, dst=RIP[0]))
    assert routes(find_walks(scene.capture())) == ["client director rs1"]


def test_a_proxy_that_repeats_the_content_starts_a_walk_of_its_own() -> None:
    scene = Scene()
    scene.send("client:eth0", "resolver:eth0", udp(C1, ("192.0.2.53", 53), b"query"))
    scene.send("resolver:eth0", "dns:eth0", udp(("192.0.2.53", 6000), ("192.0.2.54", 53), b"query"))
    assert routes(find_walks(scene.capture())) == ["client resolver", "resolver dns"]


def test_an_echo_with_equal_content_is_a_reply_not_a_hop() -> None:
    scene = Scene()
    question, answer = udp(C1, VIP, b"same"), udp(VIP, C1, b"same")
    for _ in range(3):
        scene.send("client:eth0", "director:eth0", question)
        scene.send("director:eth0", "rs1:eth0", changed(question))
        scene.send("rs1:eth0", "client:eth0", answer)
    found = find_walks(scene.capture())
    assert routes(found) == ["client director rs1", "rs1 client"] * 3
    (conversation,) = found.conversations
    assert (len(conversation.requests), len(conversation.replies)) == (3, 3)


def test_a_reply_from_the_wrong_address_is_not_taken_for_forwarding() -> None:
    scene = Scene()
    scene.send("client:eth0", "rs1:eth0", udp(C1, VIP, b"same", ttl=63))
    scene.send("rs1:eth0", "client:eth0", udp(RIP, C1, b"same", ttl=63))
    assert routes(find_walks(scene.capture())) == ["client rs1", "rs1 client"]


def test_two_clients_with_equal_content_are_told_apart_by_their_addresses() -> None:
    scene = Scene()
    one, two = udp(C1, VIP, b"same"), udp(C2, VIP, b"same")
    scene.send("c1:eth0", "director:eth0", one)
    scene.send("c2:eth0", "director:eth0", two)
    scene.send("director:eth0", "rs1:eth0", changed(two, dst=RIP[0]))
    scene.send("director:eth0", "rs2:eth0", changed(one, dst="192.0.2.12"))
    assert routes(find_walks(scene.capture())) == ["c1 director rs2", "c2 director rs1"]


def test_a_retransmission_is_a_walk_of_its_own() -> None:
    scene = Scene()
    first = IP(bytes(IP(src=C1[0], dst=VIP[0], id=1) / TCP(sport=4000, dport=80, seq=9)))
    again = IP(bytes(IP(src=C1[0], dst=VIP[0], id=2) / TCP(sport=4000, dport=80, seq=9)))
    scene.send("client:eth0", "router:eth0", first)
    scene.lose("router:eth1", "director:eth0", changed(first))
    scene.wait(1)
    scene.send("client:eth0", "router:eth0", again)
    scene.send("router:eth1", "director:eth0", changed(again))
    found = find_walks(scene.capture())
    assert routes(found) == ["client router", "client router director"]
    assert found.walks[0].ends[0].where == "router:eth1"
    assert found.walks[0].receivers == ()


def test_two_identical_frames_under_way_are_not_guessed() -> None:
    scene = Scene()
    packet = udp(C1, VIP, b"same")
    scene.lose("client:eth0", "router:eth0", packet)
    scene.send("client:eth0", "router:eth0", packet)
    scene.send("router:eth1", "director:eth0", changed(packet))
    found = find_walks(scene.capture())
    assert frame_numbers(found) == [(1,), (2,)]
    (rest,) = found.unmatched
    assert (rest.reason, rest.candidates) == (AMBIGUOUS, (1, 2))
    assert [hop.number for hop in rest.hops] == [3, 4, 5]


def test_two_received_packets_that_may_have_been_forwarded_are_not_guessed() -> None:
    scene = Scene()
    packet = udp(C1, VIP, b"same")
    scene.send("client:eth0", "router:eth0", packet)
    scene.send("client:eth0", "router:eth0", packet)
    scene.send("router:eth1", "director:eth0", changed(packet))
    found = find_walks(scene.capture())
    assert frame_numbers(found) == [(1, 2), (3, 4)]
    (rest,) = found.unmatched
    assert (rest.reason, rest.candidates) == (AMBIGUOUS, (2, 4))


def test_a_request_that_was_dropped_does_not_hide_where_a_later_echo_came_from() -> None:
    scene = Scene()
    question, answer = udp(C1, VIP, b"same"), udp(VIP, C1, b"same")
    scene.send("client:eth0", "router:eth0", question)
    scene.send("rs1:eth0", "router:eth1", answer)
    scene.send("router:eth0", "client:eth0", changed(answer))
    assert routes(find_walks(scene.capture())) == ["client router", "rs1 router client"]


def test_what_was_lost_long_ago_makes_nothing_ambiguous() -> None:
    scene = Scene()
    packet = udp(C1, VIP, b"same")
    scene.lose("client:eth0", "router:eth0", packet)
    scene.wait(6)
    scene.send("client:eth0", "router:eth0", packet)
    assert frame_numbers(find_walks(scene.capture())) == [(1,), (2, 3)]


def test_what_nobody_was_seen_to_send_is_unmatched_but_followed() -> None:
    scene = Scene()
    packet = udp(C1, VIP, b"q")
    scene.see("director:eth0", Direction.IN, framed("client:eth0", "director:eth0", packet))
    scene.send("director:eth0", "rs1:eth0", changed(packet))
    found = find_walks(scene.capture())
    assert found.walks == ()
    (rest,) = found.unmatched
    assert rest.reason == NOT_SEEN_TO_LEAVE
    assert [hop.where for hop in rest.hops] == ["director:eth0", "director:eth0", "rs1:eth0"]


def test_ttl_never_grows_along_a_walk() -> None:
    scene = Scene()
    scene.send("client:eth0", "router:eth0", udp(C1, VIP, b"q", ttl=5))
    scene.send("router:eth1", "director:eth0", udp(C1, VIP, b"q", ttl=6))
    assert routes(find_walks(scene.capture())) == ["client router", "router director"]


def test_a_loop_is_one_walk() -> None:
    scene = Scene()
    packet = udp(C1, VIP, b"q", ttl=6)
    scene.send("client:eth0", "director:eth0", packet)
    for sender, receiver in [("director", "rs1"), ("rs1", "director")] * 2:
        packet = changed(packet)
        scene.send(f"{sender}:eth0", f"{receiver}:eth0", packet)
    found = find_walks(scene.capture())
    assert routes(found) == ["client director rs1 director rs1 director"]
    assert [hop.packet.ip.ttl for hop in found.walks[0].at("director") if hop.packet.ip] == [6, 5, 4, 3, 2]


def test_a_broadcast_is_one_walk_with_many_receivers() -> None:
    scene = Scene()
    others = ("rs1:eth0", "rs2:eth0")
    build.arp_exchange(scene, "router:eth1", "192.0.2.1", "director:eth0", VIP[0], others)
    scene.wait(1)
    build.arp_exchange(scene, "router:eth1", "192.0.2.1", "director:eth0", VIP[0], others)
    found = find_walks(scene.capture())
    assert frame_numbers(found) == [(1, 2, 3, 4), (5, 6), (7, 8, 9, 10), (11, 12)]
    question = found.walks[0]
    assert [hop.where for hop in question.receivers] == ["director:eth0", *others]
    assert {hop.previous for hop in question.receivers} == {1}


def test_loopback_is_a_link_of_the_node_to_itself() -> None:
    scene = Scene()
    local = Ether(src="00:00:00:00:00:00", dst="00:00:00:00:00:00") / udp(("127.0.0.1", 1), ("127.0.0.1", 2), b"x")
    scene.see("rs1:lo", Direction.OUT, local)
    scene.see("rs1:lo", Direction.IN, local)
    (walk,) = find_walks(scene.capture()).walks
    assert [hop.step for hop in walk.hops] == [Step.ORIGIN, Step.CROSSED]


def test_what_was_overheard_is_attached_and_is_no_hop() -> None:
    scene = Scene()
    packet = udp(C1, VIP, b"q")
    scene.send("client:eth0", "director:eth0", packet)
    scene.see("rs1:eth0", Direction.OVERHEARD, framed("client:eth0", "director:eth0", packet))
    scene.see("rs2:eth0", Direction.OVERHEARD, framed("c2:eth0", "director:eth0", udp(C2, VIP, b"never sent")))
    found = find_walks(scene.capture())
    assert found.walks[0].frames == (1, 2)
    assert [hop.where for hop in found.walks[0].overheard] == ["rs1:eth0"]
    assert [hop.where for hop in found.unmatched[0].overheard] == ["rs2:eth0"]


def test_a_vlan_tag_may_be_in_the_data_on_one_side_only() -> None:
    scene = Scene()
    tagged = bytes(framed("a:eth0", "b:eth0", udp(C1, VIP, b"q")))
    scene.see("a:eth0", Direction.OUT, tagged[:12] + b"\x81\x00\x00\x05" + tagged[12:])
    scene.see("b:eth0", Direction.IN, tagged)
    assert routes(find_walks(scene.capture())) == ["a b"]


def test_mss_clamping_does_not_break_a_walk() -> None:
    scene = Scene()
    syn = IP(bytes(IP(src=C1[0], dst=VIP[0]) / TCP(flags="S", options=[("MSS", 1460)])))
    scene.send("client:eth0", "director:eth0", syn)
    clamped = changed(syn)
    clamped[TCP].options = [("MSS", 1440)]
    scene.send("director:eth0", "rs1:eth0", IP(bytes(clamped)))
    assert routes(find_walks(scene.capture())) == ["client director rs1"]


def test_icmp_errors_are_joined_though_nat_rewrites_what_they_quote() -> None:
    scene = Scene()
    inside = IP(src="192.0.2.11", dst=C1[0], id=5) / TCP(sport=8080, dport=4000, seq=77)
    outside = IP(src=VIP[0], dst=C1[0], id=5) / TCP(sport=80, dport=4000, seq=77)
    scene.send("router:eth0", "director:eth0", build.icmp_error("198.51.100.1", VIP[0], 3, 4, outside))
    translated = build.icmp_error("198.51.100.1", "192.0.2.11", 3, 4, inside)
    translated.ttl -= 1
    translated.chksum = None
    scene.send("director:eth1", "rs1:eth0", translated)
    assert routes(find_walks(scene.capture())) == ["router director rs1"]


@pytest.mark.parametrize("version", [4, 6])
def test_a_ping_and_its_answer_are_two_walks(version: int) -> None:
    scene = Scene()
    if version == 4:
        ask, answer = IP(src=C1[0], dst=VIP[0]) / ICMP(id=3), IP(src=VIP[0], dst=C1[0]) / ICMP(type=0, id=3)
    else:
        ask = IPv6(src="2001:db8::1", dst="2001:db8::2") / ICMPv6EchoRequest(id=3)
        answer = IPv6(src="2001:db8::2", dst="2001:db8::1") / ICMPv6EchoReply(id=3)
    scene.send("client:eth0", "rs1:eth0", ask)
    scene.send("rs1:eth0", "client:eth0", answer)
    found = find_walks(scene.capture())
    assert routes(found) == ["client rs1", "rs1 client"]
    (conversation,) = found.conversations
    assert (len(conversation.requests), len(conversation.replies)) == (1, 1)


def test_fragments_are_followed_each_for_itself() -> None:
    scene = Scene()
    for offset, more in ((0, "MF"), (185, "")):
        fragment = IP(bytes(IP(src=C1[0], dst=VIP[0], id=9, frag=offset, flags=more, proto=17) / (b"x" * 64)))
        scene.send("client:eth0", "router:eth0", fragment)
        passed_on = fragment.copy()
        passed_on.ttl -= 1
        passed_on.chksum = None
        scene.send("router:eth1", "rs1:eth0", passed_on)
    assert frame_numbers(find_walks(scene.capture())) == [(1, 2, 3, 4), (5, 6, 7, 8)]


def test_an_empty_capture_has_no_walks() -> None:
    found = find_walks(Scene().capture())
    assert (found.walks, found.unmatched, found.conversations) == ((), (), ())
