"""Which walks belong to one connection, and who began it."""

from __future__ import annotations

from scapy.layers.inet import IP, TCP

from lvslab.walk import find_walks
from lvslab.walk.model import Conversation
from tests.unit.walk import build
from tests.unit.walk.build import Scene, changed


def tcp_conversations(scene: Scene) -> list[Conversation]:
    return [c for c in find_walks(scene.capture()).conversations if c.protocol == "tcp"]


def test_addresses_before_and_after_translation_are_one_connection() -> None:
    (connection,) = (c for c in find_walks(build.nat()).conversations if c.protocol == "tcp")
    assert str(connection.initiator) == "198.51.100.10:40000"
    assert str(connection.responder) == "198.51.100.100:80"
    assert [walk.origin.number for walk in connection.walks] == sorted(w.origin.number for w in connection.walks)


def test_arp_is_grouped_apart() -> None:
    protocols = [c.protocol for c in find_walks(build.dr()).conversations]
    assert protocols == ["arp", "tcp"]
    arp = find_walks(build.dr()).conversations[0]
    assert (len(arp.requests), len(arp.replies), arp.initiator) == (1, 1, None)


def test_a_reply_that_never_got_translated_back_belongs_to_its_connection() -> None:
    scene = Scene()
    syn = IP(bytes(IP(src=build.CLIENT, dst=build.NAT_VIP[0]) / TCP(sport=40000, dport=80, flags="S", seq=5)))
    build.nat_request(scene, syn)
    answer = IP(src=build.NAT_RIP[0], dst=build.CLIENT) / TCP(sport=8080, dport=40000, flags="SA", seq=8, ack=6)
    scene.send("rs1:eth0", "router:eth0", answer)
    (connection,) = tcp_conversations(scene)
    assert (len(connection.requests), len(connection.replies)) == (1, 1)


def test_the_initiator_sent_the_syn_even_if_something_else_was_seen_first() -> None:
    scene = Scene()
    stale = IP(src=build.DR_VIP[0], dst=build.CLIENT) / TCP(sport=80, dport=40000, flags="R", seq=1)
    scene.send("rs1:eth0", "client:eth0", IP(bytes(stale)))
    build.connection(scene, build.dr_request, build.dr_reply, build.DR_VIP)
    (connection,) = tcp_conversations(scene)
    assert str(connection.initiator) == "198.51.100.10:40000"
    assert connection.replies[0].origin.number == 1


def test_a_retransmitted_syn_stays_and_a_reused_port_begins_anew() -> None:
    scene = Scene()
    for sequence, ident in ((100, 1), (100, 2), (999, 3)):
        tcp = TCP(sport=40000, dport=80, flags="S", seq=sequence)
        build.dr_request(scene, IP(bytes(IP(src=build.CLIENT, dst=build.DR_VIP[0], id=ident) / tcp)))
        scene.wait(1)
    assert [len(c.requests) for c in tcp_conversations(scene)] == [2, 1]


def test_an_icmp_error_belongs_to_the_connection_it_quotes() -> None:
    scene = Scene()
    build.connection(scene, build.dr_request, build.dr_reply, build.DR_VIP)
    reply = IP(src=build.DR_VIP[0], dst=build.CLIENT) / TCP(sport=80, dport=40000, seq=77)
    scene.send("router:eth1", "rs1:eth0", build.icmp_error("192.0.2.1", build.DR_VIP[0], 3, 4, reply))
    (connection,) = tcp_conversations(scene)
    assert len(connection.errors) == 1
    assert len(connection.walks) == 8


def test_full_nat_tells_requests_from_replies_though_the_reply_is_to_the_director() -> None:
    scene = Scene()
    syn = IP(bytes(IP(src=build.CLIENT, dst=build.NAT_VIP[0]) / TCP(sport=40000, dport=80, flags="S", seq=5)))
    scene.send("client:eth0", "director:eth0", syn)
    scene.send("director:eth1", "rs1:eth0", changed(syn, src="192.0.2.2", sport=7, dst="192.0.2.11"))
    answer = IP(src="192.0.2.11", dst="192.0.2.2") / TCP(sport=80, dport=7, flags="SA", seq=8, ack=6)
    scene.send("rs1:eth0", "director:eth1", IP(bytes(answer)))
    (connection,) = tcp_conversations(scene)
    assert (len(connection.requests), len(connection.replies)) == (1, 1)
