"""Captures made with scapy: what each forwarding method looks like on the wire, without a kernel.

A `Scene` is a clock and a list of frames; `send` puts a packet on a link, so it is seen twice.
`nat`, `tun` and `dr` return the capture of one HTTP connection through rs1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.layers.sctp import (
    SCTP,
    SCTPChunkCookieAck,
    SCTPChunkCookieEcho,
    SCTPChunkData,
    SCTPChunkInit,
    SCTPChunkInitAck,
    SCTPChunkParamIPv4Addr,
    SCTPChunkParamStateCookie,
    SCTPChunkSACK,
    SCTPChunkShutdown,
    SCTPChunkShutdownAck,
    SCTPChunkShutdownComplete,
)

from lvslab.capture.frame import Capture, Direction, Frame, LinkType

START_NS = 1_700_000_000_000_000_000
CLIENT, CLIENT_PORT = "198.51.100.10", 40000
REQUEST = b"GET / HTTP/1.0\r\n\r\n"
ANSWER = b"HTTP/1.0 200 OK\r\n\r\nrs1\n"
BROADCAST = "ff:ff:ff:ff:ff:ff"


def mac(where: str) -> str:
    """Return the made-up MAC of a node:interface."""
    return "02:" + sha256(where.encode()).digest()[:5].hex(":")


def framed(sender: str, receiver: str, packet: Any) -> Any:
    """Return a packet in Ethernet; with an address missing, scapy would ask the host's network for it."""
    return Ether(src=mac(sender), dst=mac(receiver)) / packet


@dataclass
class Scene:
    """Frames as they happen; each takes `step_ns`."""

    step_ns: int = 10_000
    now_ns: int = START_NS
    frames: list[Frame] = field(default_factory=list)
    drops: dict[str, int] = field(default_factory=dict)

    def see(self, where: str, direction: Direction, packet: Any, link_type: LinkType = LinkType.ETHERNET) -> Frame:
        """Record one frame, without anything following from it."""
        node, interface = where.split(":")
        data = bytes(packet)
        frame = Frame(len(self.frames) + 1, self.now_ns, node, interface, direction, link_type, data, len(data))
        self.frames.append(frame)
        self.now_ns += self.step_ns
        return frame

    def send(self, sender: str, receiver: str, packet: Any) -> None:
        """Let a packet cross the link from one node:interface to another."""
        frame = framed(sender, receiver, packet)
        self.see(sender, Direction.OUT, frame)
        self.see(receiver, Direction.IN, frame)

    def lose(self, sender: str, receiver: str, packet: Any) -> None:
        """Send a packet that nobody receives."""
        self.see(sender, Direction.OUT, framed(sender, receiver, packet))

    def broadcast(self, sender: str, receivers: tuple[str, ...], packet: Any) -> None:
        frame = Ether(src=mac(sender), dst=BROADCAST) / packet
        self.see(sender, Direction.OUT, frame)
        for receiver in receivers:
            self.see(receiver, Direction.IN, frame)

    def wait(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)

    def capture(self) -> Capture:
        return Capture(tuple(self.frames), dict(self.drops))


def changed(packet: Any, *, ttl: int = -1, **fields: Any) -> Any:
    """Return an IP packet as a router or director passes it on: TTL lower, the given fields rewritten."""
    result = packet.copy()
    if isinstance(result, IP):
        result.ttl += ttl
        result.chksum = None
    else:
        result.hlim += ttl
    result.payload.chksum = None
    for name, value in fields.items():
        setattr(result.payload if name in ("sport", "dport") else result, name, value)
    return type(result)(bytes(result))


def arp_exchange(scene: Scene, asker: str, asker_ip: str, owner: str, owner_ip: str, others: tuple[str, ...]) -> None:
    """A who-has heard by everybody on the segment, and the owner's answer."""
    question = ARP(op=1, hwsrc=mac(asker), psrc=asker_ip, pdst=owner_ip)
    scene.broadcast(asker, (owner, *others), question)
    answer = ARP(op=2, hwsrc=mac(owner), psrc=owner_ip, hwdst=mac(asker), pdst=asker_ip)
    scene.send(owner, asker, answer)


Way = Callable[[Scene, Any], None]
"""Takes one packet from its sender to its receiver."""


def connection(scene: Scene, request: Way, reply: Way, service: tuple[str, int], port: int = CLIENT_PORT) -> None:
    """One HTTP connection: seven packets, as the sender of each writes them.

    `reply` gets what the real server would send with the service's address as its source; a method that
    translates addresses starts from its own.
    """
    client_isn, server_isn = 1000 + port, 500_000 + port
    clock = [("NOP", None), ("NOP", None), ("Timestamp", (port, 7))]
    identification = [port % 1000]

    def ask(flags: str, data: bytes, seq: int, ack: int) -> None:
        identification[0] += 1
        tcp = TCP(sport=port, dport=service[1], flags=flags, seq=client_isn + seq, ack=ack, options=clock)
        request(scene, IP(bytes(IP(src=CLIENT, dst=service[0], id=identification[0], flags="DF") / tcp / data)))

    def answer(flags: str, data: bytes, seq: int, ack: int) -> None:
        syn = "S" in flags
        tcp = TCP(sport=service[1], dport=port, flags=flags, seq=server_isn + seq, ack=client_isn + ack, options=clock)
        ip = IP(src=service[0], dst=CLIENT, id=0 if syn else 300 + seq, flags="DF")
        reply(scene, IP(bytes(ip / tcp / data)))

    asked, answered = 1 + len(REQUEST), 1 + len(ANSWER)
    ask("S", b"", 0, 0)
    answer("SA", b"", 0, 1)
    ask("A", b"", 1, server_isn + 1)
    ask("PA", REQUEST, 1, server_isn + 1)
    answer("FPA", ANSWER, 1, asked)
    ask("FA", b"", asked, server_isn + answered + 1)
    answer("A", b"", answered + 1, asked + 1)


NAT_VIP, NAT_RIP = ("198.51.100.100", 80), ("192.0.2.11", 8080)


def nat_request(scene: Scene, packet: Any) -> None:
    scene.send("client:eth0", "director:eth0", packet)
    scene.send("director:eth1", "rs1:eth0", changed(packet, dst=NAT_RIP[0], dport=NAT_RIP[1]))


def nat_reply(scene: Scene, packet: Any) -> None:
    scene.send("rs1:eth0", "director:eth1", changed(packet, ttl=0, src=NAT_RIP[0], sport=NAT_RIP[1]))
    scene.send("director:eth0", "client:eth0", changed(packet))


def nat(connections: int = 1) -> Capture:
    """Client and director on one network, director and rs1 on another."""
    scene = Scene()
    arp_exchange(scene, "client:eth0", CLIENT, "director:eth0", NAT_VIP[0], ())
    for index in range(connections):
        connection(scene, nat_request, nat_reply, NAT_VIP, CLIENT_PORT + index)
    return scene.capture()


DR_VIP = ("192.0.2.100", 80)


def dr_request(scene: Scene, packet: Any) -> None:
    scene.send("client:eth0", "router:eth0", packet)
    routed = changed(packet)
    scene.send("router:eth1", "director:eth0", routed)
    scene.send("director:eth0", "rs1:eth0", changed(routed))


def dr_reply(scene: Scene, packet: Any) -> None:
    scene.send("rs1:eth0", "router:eth1", packet)
    scene.send("router:eth0", "client:eth0", changed(packet))


def dr(connections: int = 1) -> Capture:
    """Client behind a router; director, rs1 and rs2 on one network."""
    scene = Scene()
    arp_exchange(scene, "router:eth1", "192.0.2.1", "director:eth0", DR_VIP[0], ("rs1:eth0", "rs2:eth0"))
    for index in range(connections):
        connection(scene, dr_request, dr_reply, DR_VIP, CLIENT_PORT + index)
    return scene.capture()


TUN_VIP, TUN_DIP, TUN_RIP = ("203.0.113.100", 80), "203.0.113.2", "198.18.0.11"


def tun_request(scene: Scene, packet: Any) -> None:
    scene.send("client:eth0", "router:eth0", packet)
    routed = changed(packet)
    scene.send("router:eth1", "director:eth0", routed)
    inner = changed(routed)
    outer = IP(bytes(IP(src=TUN_DIP, dst=TUN_RIP, ttl=inner.ttl, id=0, flags="DF") / inner))
    scene.send("director:eth0", "router:eth1", outer)
    routed_outer = outer.copy()
    routed_outer.ttl -= 1
    routed_outer.chksum = None
    scene.send("router:eth2", "rs1:eth0", routed_outer)
    scene.see("rs1:tunl0", Direction.IN, inner, LinkType.RAW_IP)


def tun_reply(scene: Scene, packet: Any) -> None:
    scene.send("rs1:eth0", "router:eth2", packet)
    scene.send("router:eth0", "client:eth0", changed(packet))


def tun(connections: int = 1) -> Capture:
    """Client, director and rs1 each on a network of their own, joined by one router."""
    scene = Scene()
    for index in range(connections):
        connection(scene, tun_request, tun_reply, TUN_VIP, CLIENT_PORT + index)
    return scene.capture()


def udp(source: tuple[str, int], destination: tuple[str, int], data: bytes, *, ttl: int = 64, ident: int = 0) -> Any:
    """Return a UDP packet as an unconnected Linux socket sends it: DF and identification 0."""
    layers = IP(src=source[0], dst=destination[0], ttl=ttl, id=ident, flags="DF")
    return IP(bytes(layers / UDP(sport=source[1], dport=destination[1]) / data))


def sctp(
    source: tuple[str, int], destination: tuple[str, int], *chunks: Any, tag: int, ttl: int = 64, ident: int = 0
) -> Any:
    """Return an SCTP packet with these chunks, in this order."""
    layers = SCTP(sport=source[1], dport=destination[1], tag=tag)
    for chunk in chunks:
        layers = layers / chunk
    return IP(bytes(IP(src=source[0], dst=destination[0], ttl=ttl, id=ident, flags="DF") / layers))


def association(
    scene: Scene,
    request: Way,
    reply: Way,
    service: tuple[str, int],
    port: int = CLIENT_PORT,
    *,
    offers: Sequence[str] = (),
) -> None:
    """One SCTP association with a question and an answer, ended by the server; its packets are eleven.

    `offers`: the addresses that the server lists in its INIT ACK. As for `reply`, see `connection`.
    """
    client_tag, server_tag = 1000 + port, 500_000 + port
    idents = itertools.count(1)

    def ask(*chunks: Any, tag: int = server_tag) -> None:
        request(scene, sctp((CLIENT, port), service, *chunks, tag=tag, ident=next(idents)))

    def answer(*chunks: Any) -> None:
        reply(scene, sctp(service, (CLIENT, port), *chunks, tag=client_tag, ident=next(idents)))

    listed = [SCTPChunkParamIPv4Addr(addr=address) for address in offers]
    cookie = SCTPChunkParamStateCookie(cookie=b"biscuit!")
    ask(SCTPChunkInit(init_tag=client_tag), tag=0)
    answer(SCTPChunkInitAck(init_tag=server_tag, params=[*listed, cookie]))
    ask(SCTPChunkCookieEcho(cookie=b"biscuit!"))
    answer(SCTPChunkCookieAck())
    ask(SCTPChunkData(data=b"question"))
    answer(SCTPChunkSACK(cumul_tsn_ack=1))
    answer(SCTPChunkData(data=b"rs1\nquestion"))
    ask(SCTPChunkSACK(cumul_tsn_ack=1))
    answer(SCTPChunkShutdown(cumul_tsn_ack=1))
    ask(SCTPChunkShutdownAck())
    answer(SCTPChunkShutdownComplete())


def icmp_error(source: str, destination: str, kind: int, code: int, about: Any) -> Any:
    return IP(bytes(IP(src=source, dst=destination) / ICMP(type=kind, code=code) / IP(bytes(about)[:60])))
