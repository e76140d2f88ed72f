"""A long capture in which everything happens at once, and what became of it as text to compare with a stored one."""

from __future__ import annotations

import random

from scapy.layers.inet import IP, TCP

from lvslab.capture.frame import Capture, Direction
from lvslab.walk.model import Conversation, Hop, Unmatched, Walk, Walks
from tests.unit.walk import build
from tests.unit.walk.build import Scene, changed, framed, udp


def mixed_capture(rounds: int = 120) -> Capture:
    """Return connections of all methods among losses, repetitions, loops, floods, fragments, errors and broadcasts."""
    chance = random.Random(1998)
    scene = Scene()
    happenings = (_nat, _dr, _tun, _same_question, _lost, _flooded, _from_nowhere, _loop, _fragments, _error, _arp)
    for index in range(rounds):
        chance.choice(happenings)(scene, index)
        if chance.random() < 0.2:
            scene.wait(chance.choice((0.5, 3, 6)))
    return scene.capture()


def as_text(found: Walks) -> str:
    """Return every walk, unmatched packet, conversation and name, a line each."""
    lines = [_walk(walk) for walk in found.walks]
    lines += [_unmatched(rest) for rest in found.unmatched]
    lines += [_conversation(conversation) for conversation in found.conversations]
    lines += [f"{mac} {node}" for mac, node in sorted(found.names.macs.items())]
    return "\n".join(lines) + "\n"


def _hops(hops: tuple[Hop, ...]) -> str:
    return " ".join(
        f"{hop.number}:{hop.step}:{hop.previous or '-'}:{hop.packet.ip.ttl if hop.packet.ip else '-'}" for hop in hops
    )


def _walk(walk: Walk) -> str:
    return f"walk {_hops(walk.hops)} overheard {_hops(walk.overheard)}".rstrip()


def _unmatched(rest: Unmatched) -> str:
    return f"unmatched {_hops(rest.hops)} overheard {_hops(rest.overheard)} {rest.reason} {rest.candidates}"


def _conversation(conversation: Conversation) -> str:
    sides = (conversation.requests, conversation.replies, conversation.errors)
    numbers = [[walk.origin.number for walk in walks] for walks in sides]
    return f"{conversation.protocol} {conversation.initiator} {conversation.responder} {numbers}"


def _nat(scene: Scene, index: int) -> None:
    build.connection(scene, build.nat_request, build.nat_reply, build.NAT_VIP, 40000 + index)


def _dr(scene: Scene, index: int) -> None:
    build.connection(scene, build.dr_request, build.dr_reply, build.DR_VIP, 40000 + index)


def _tun(scene: Scene, index: int) -> None:
    build.connection(scene, build.tun_request, build.tun_reply, build.TUN_VIP, 40000 + index)


def _question(index: int) -> IP:
    return udp((build.CLIENT, 4000), ("192.0.2.100", 53), b"q%d" % (index % 3), ident=index % 2)


def _same_question(scene: Scene, index: int) -> None:
    scene.send("client:eth0", "router:eth0", _question(index))
    scene.send("client:eth0", "router:eth0", _question(index))
    scene.send("router:eth1", "director:eth0", changed(_question(index)))


def _lost(scene: Scene, index: int) -> None:
    scene.lose("client:eth0", "router:eth0", _question(index))


def _flooded(scene: Scene, index: int) -> None:
    scene.send("client:eth0", "director:eth0", _question(index))
    for server in ("rs1:eth0", "rs2:eth0"):
        scene.see(server, Direction.OVERHEARD, framed("client:eth0", "director:eth0", _question(index)))


def _from_nowhere(scene: Scene, index: int) -> None:
    scene.see("director:eth0", Direction.IN, framed("stranger:eth0", "director:eth0", _question(index)))
    scene.send("director:eth0", "rs1:eth0", changed(_question(index)))


def _loop(scene: Scene, index: int) -> None:
    packet = _question(index)
    for sender, receiver in [("director", "rs1"), ("rs1", "director")] * 3:
        scene.send(f"{sender}:eth0", f"{receiver}:eth0", packet)
        packet = changed(packet)


def _fragments(scene: Scene, index: int) -> None:
    for offset, more in ((0, "MF"), (185, "")):
        packet = IP(bytes(IP(src=build.CLIENT, dst="192.0.2.100", id=index, frag=offset, flags=more, proto=17) / b"x"))
        scene.send("client:eth0", "router:eth0", packet)


def _error(scene: Scene, index: int) -> None:
    reply = IP(src=build.DR_VIP[0], dst=build.CLIENT) / TCP(sport=80, dport=40000 + index, seq=77)
    scene.send("router:eth1", "rs1:eth0", build.icmp_error("192.0.2.1", build.DR_VIP[0], 3, 4, reply))


def _arp(scene: Scene, index: int) -> None:
    build.arp_exchange(scene, "router:eth1", "192.0.2.1", "director:eth0", "192.0.2.100", ("rs1:eth0", "rs2:eth0"))
