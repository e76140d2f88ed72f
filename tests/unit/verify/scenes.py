"""Clusters for judging without a kernel: their topologies, the ways their packets take, and evidence made of both.

Addresses and interfaces are those of `tests.unit.walk.build`; each way can be broken by giving another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from lvslab.capture.frame import Capture, Direction
from lvslab.ipvs.intent import from_topology
from lvslab.ipvs.model import DestinationEntry, ServiceEntry, Stats
from lvslab.topology import load_text
from lvslab.topology.model import Protocol, Topology
from lvslab.traffic.outcome import Outcome
from lvslab.verify.evidence import DirectorTable, Evidence, NodeFacts
from lvslab.verify.judge import judge
from lvslab.verify.result import Result, Verdict
from lvslab.walk import find_walks
from tests.unit.walk import build
from tests.unit.walk.build import CLIENT, CLIENT_PORT, Scene, Way, changed, mac

NAT = """
name: nat
networks: {outside: 198.51.100.0/24, inside: 192.0.2.0/24}
nodes:
  client: {role: client, on: {outside: 10}}
  director: {role: director, on: {outside: 2, inside: 1}}
  rs[1-SERVERS]: {role: real-server, on: {inside: 11+}}
services: [{vip: 198.51.100.100, port: 80, method: nat, scheduler: rr, servers: [{node: rs*, port: 8080}]}]
"""
DR = """
name: dr
networks: {outside: 198.51.100.0/24, inside: 192.0.2.0/24}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, inside: 1}}
  director: {role: director, on: {inside: 2}}
  rs[1-SERVERS]: {role: real-server, on: {inside: 11+}}
services: [{vip: 192.0.2.100, port: 80, method: dr, scheduler: rr, servers: rs*}]
"""
TUN = """
name: tun
networks: {outside: 198.51.100.0/24, middle: 203.0.113.0/24, servers: 198.18.0.0/24}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, middle: 1, servers: 1}}
  director: {role: director, on: {middle: 2}}
  rs[1-SERVERS]: {role: real-server, on: {servers: 11+}}
services: [{vip: 203.0.113.100, port: 80, method: tun, scheduler: rr, servers: rs*}]
"""


def topology(text: str, *, servers: int = 1, without: Sequence[str] = ()) -> Topology:
    """Return a topology whose MACs are those of the made-up frames."""
    loaded = load_text(text.replace("SERVERS", str(servers)), "test", without=without)
    nodes = tuple(
        replace(
            node,
            interfaces=tuple(replace(each, mac=mac(f"{node.name}:{each.name}")) for each in node.interfaces),
        )
        for node in loaded.nodes
    )
    return replace(loaded, nodes=nodes)


def dr_request_to(server: str, **rewritten: Any) -> Way:
    """The right way of a DR request to one server; `rewritten` fields are what the director should not touch."""

    def way(scene: Scene, packet: Any) -> None:
        scene.send("client:eth0", "router:eth0", packet)
        routed = changed(packet)
        scene.send("router:eth1", "director:eth0", routed)
        scene.send("director:eth0", f"{server}:eth0", changed(routed, **rewritten))

    return way


def dr_reply_from(server: str) -> Way:
    def way(scene: Scene, packet: Any) -> None:
        scene.send(f"{server}:eth0", "router:eth1", packet)
        scene.send("router:eth0", "client:eth0", changed(packet))

    return way


def dr_arp(scene: Scene, owner: str = "director:eth0") -> None:
    everybody = ("director:eth0", "rs1:eth0", "rs2:eth0")
    others = tuple(where for where in everybody if where != owner)
    build.arp_exchange(scene, "router:eth1", "192.0.2.1", owner, build.DR_VIP[0], others)


def dr_scene(*ways: tuple[Way, Way]) -> Scene:
    """One connection for each pair of ways, each from a port of its own."""
    scene = Scene()
    dr_arp(scene)
    for index, (request, reply) in enumerate(ways):
        build.connection(scene, request, reply, build.DR_VIP, CLIENT_PORT + index)
    return scene


def one(request: Way, reply: Way, vip: tuple[str, int]) -> Scene:
    """One connection, and nothing else."""
    scene = Scene()
    build.connection(scene, request, reply, vip)
    return scene


def answered(*servers: str, vip: tuple[str, int]) -> tuple[Outcome, ...]:
    """Return the outcomes of one call after another, each answered by the server named."""
    return tuple(
        Outcome("client", CLIENT_PORT + index, *vip, "ok", 0.01, f"HTTP/1.1 200 OK\r\n\r\n{server}\n".encode())
        for index, server in enumerate(servers)
    )


def failed(status: str, *ports: int, vip: tuple[str, int], protocol: Protocol = Protocol.TCP) -> tuple[Outcome, ...]:
    return tuple(Outcome("client", port, *vip, status, 2.0, b"", protocol) for port in ports)


def counters(capture: Capture, vip: str, *, connections: int, replies_at: str = "") -> Stats:
    """Count from the raw frames, independently of walks, what a director's kernel would."""

    def sizes(where: str, wanted: Callable[[Any], bool]) -> list[int]:
        here = [f for f in capture.frames if f.where == where and f.direction is Direction.IN]
        packets = [Ether(frame.data) for frame in here]
        return [packet[IP].len for packet in packets if IP in packet and wanted(packet[IP])]

    incoming = sizes("director:eth0", lambda ip: bool(ip.dst == vip))
    outgoing = sizes(replies_at, lambda ip: bool(ip.dst == CLIENT)) if replies_at else []
    return Stats(connections, len(incoming), len(outgoing), sum(incoming), sum(outgoing))


def table(model: Topology, totals: Stats, *per_server: int, earlier: Stats | None = None) -> dict[str, DirectorTable]:
    """Return the director's table with so many inactive connections at each server, given in the order of adding."""
    intended = from_topology(model.services[0])
    entries = tuple(
        DestinationEntry(destination, 0, number, 0, Stats())
        for destination, number in zip(intended.destinations, per_server, strict=True)
    )
    services = (ServiceEntry(intended.service, Stats(), entries[::-1]),)  # the kernel puts the newest first
    return {"director": DirectorTable(services, totals, earlier or Stats())}


def paused(capture: Capture, seconds: int) -> Capture:
    """Let so much time pass between the first connection and the second."""
    second = (CLIENT_PORT + 1).to_bytes(2, "big")
    begin = next(number for number, one in enumerate(capture.frames) if second in one.data)
    later = [replace(one, time_ns=one.time_ns + seconds * 10**9) for one in capture.frames[begin:]]
    return replace(capture, frames=(*capture.frames[:begin], *later))


def evidence(
    model: Topology,
    seen: Scene | Capture,
    *,
    outcomes: tuple[Outcome, ...] | None = None,
    tables: Mapping[str, DirectorTable] | None = None,
    facts: Mapping[str, NodeFacts] | None = None,
    used: bool = False,
) -> Evidence:
    capture = seen.capture() if isinstance(seen, Scene) else seen
    return Evidence(model, capture, find_walks(capture), outcomes, tables, facts, used)


def judged(found: Evidence) -> dict[str, Result]:
    return {result.name: result for result in judge(found)}


def verdicts(results: Mapping[str, Result]) -> dict[str, str]:
    return {name: result.verdict.value for name, result in results.items()}


def names(results: Iterable[Result], verdict: Verdict) -> set[str]:
    return {result.name for result in results if result.verdict is verdict}
