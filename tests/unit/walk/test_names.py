"""Which node a MAC belongs to."""

from __future__ import annotations

from scapy.layers.l2 import Ether

from lvslab.capture.frame import Direction
from lvslab.walk import find_walks
from lvslab.walk.names import address_name, mac_name
from tests.unit.walk import build
from tests.unit.walk.build import Scene, mac, udp


def test_every_interface_that_sends_or_receives_is_named() -> None:
    names = find_walks(build.tun()).names
    wheres = ("client:eth0", "router:eth0", "router:eth1", "router:eth2", "director:eth0", "rs1:eth0")
    assert {where: mac_name(names, mac(where)) for where in wheres} == {w: w.split(":")[0] for w in wheres}


def test_a_node_that_only_receives_is_named() -> None:
    scene = Scene()
    scene.send("client:eth0", "rs1:eth0", udp(("192.0.2.1", 1), ("192.0.2.2", 2), b"x"))
    assert mac_name(find_walks(scene.capture()).names, mac("rs1:eth0")) == "rs1"


def test_broadcast_loopback_and_unknown_macs_name_no_node() -> None:
    scene = Scene()
    scene.broadcast("client:eth0", ("rs1:eth0",), udp(("192.0.2.1", 1), ("192.0.2.255", 2), b"x"))
    scene.see("rs1:lo", Direction.OUT, Ether(src="00:00:00:00:00:00", dst="00:00:00:00:00:00"))
    names = find_walks(scene.capture()).names
    assert mac_name(names, "ff:ff:ff:ff:ff:ff") == "broadcast"
    assert mac_name(names, "00:00:00:00:00:00") == "00:00:00:00:00:00"
    assert mac_name(names, "02:00:00:00:00:99") == "02:00:00:00:00:99"


def test_labels_stand_beside_addresses() -> None:
    names = find_walks(build.dr(), labels={"192.0.2.100": "VIP"}).names
    assert address_name(names, "192.0.2.100") == "192.0.2.100 (VIP)"
    assert address_name(names, "192.0.2.11") == "192.0.2.11"
