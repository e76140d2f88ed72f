"""Which walks of a capture are looked at."""

from __future__ import annotations

from lvslab.walk import find_walks
from lvslab.walk.select import arp_about, connections, opening
from tests.unit.walk import build
from tests.unit.walk.build import Scene, udp


def test_questions_to_a_name_server_are_chosen_only_if_there_is_nothing_else() -> None:
    scene = Scene()
    scene.send("client:eth0", "ns:eth0", udp((build.CLIENT, 5000), ("192.0.2.53", 53), b"q"))
    assert [c.protocol for c in connections(find_walks(scene.capture()))] == ["udp"]
    build.connection(scene, build.dr_request, build.dr_reply, build.DR_VIP)
    assert [c.protocol for c in connections(find_walks(scene.capture()))] == ["tcp"]


def test_the_opening_is_the_first_request_and_the_first_reply() -> None:
    (connection,) = connections(find_walks(build.dr()))
    short = opening(connection)
    assert (short.requests, short.replies) == (connection.requests[:1], connection.replies[:1])


def test_arp_about_an_address_is_who_asked_for_it_and_who_claimed_it() -> None:
    scene = Scene()
    build.arp_exchange(scene, "router:eth1", "192.0.2.1", "director:eth0", "192.0.2.100", ("rs1:eth0",))
    build.arp_exchange(scene, "rs1:eth0", "192.0.2.11", "router:eth1", "192.0.2.1", ())
    found = find_walks(scene.capture())
    assert [walk.origin.node for walk in arp_about(found, "192.0.2.100")] == ["router", "director"]
    assert [walk.origin.node for walk in arp_about(found, "192.0.2.1")] == ["rs1", "router"]
    assert arp_about(found, "192.0.2.99") == ()
