"""Topologies to draw: the shipped ones, many servers, faults, and one that a drawing could get wrong."""

from __future__ import annotations

from pathlib import Path

from lvslab.report.graph.phrases import ENGLISH, graph_phrases
from lvslab.topology import load_text, load_topology
from lvslab.topology.model import Topology

GOLDEN = Path(__file__).parents[3] / "golden" / "graphs"

IN_ENGLISH = graph_phrases(ENGLISH)

MESHED = load_text(
    """
name: meshed
title: {en: "Two client networks <&\\"> and #35; a backup", zh: 两个客户端网络}
networks:
  servers: [198.18.0.0/23, "2001:db8:1::/64"]
  east: 203.0.113.0/24
  middle: 192.0.2.0/24
  west: 198.51.100.0/24
nodes:
  c-east: {role: client, on: {east: 10}}
  c-west: {role: client, on: {west: 10}, gateway: end}
  end: {role: router, on: {east: 1, west: 1, middle: 1, servers: 1}}
  r2: {role: router, on: {middle: 2, servers: 2}}
  lb: {role: director, on: {servers: 5}, gateway: end}
  rs[1-3]: {role: real-server, on: {servers: 11+}, gateway: end, addresses: {lo: [192.0.2.7/32]}}
  spare:
    role: real-server
    on: {servers: 40}
    gateway: r2
    server: nginx
    routes: [{to: 203.0.113.0/24, via: 198.18.0.1}]
services:
  - {vip: 198.18.0.100, port: 80, method: dr, scheduler: wrr, servers: rs*, weights: [3, 2, 1], persistence: 300}
  - {vip: "2001:db8:1::100", port: 443, method: dr, scheduler: wlc, servers: rs*, vip_prefix: 64}
""",
    "meshed.yaml",
)
"""Networks out of order, a router on four of them, two address families, text that needs escaping."""


def named(name: str) -> Topology:
    """Return a case by its name."""
    if name == "meshed":
        return MESHED
    if name == "dr-64":
        return load_topology("dr", params={"real_servers": 64})
    if name == "broken":
        return load_topology("dr", params={"real_servers": 64}, without=["arp_ignore@rs17", "vip@rs2"])
    return load_topology(name)


NAMES = ("dr", "nat", "tun", "rr-dns", "dr-64", "broken", "meshed")
