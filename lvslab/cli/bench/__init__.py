"""lvslab bench: the papers' figures, measured."""

from __future__ import annotations

import click

from lvslab.cli.lazy import LazyGroup

VERBS = {
    "build": "What building and removing a network costs, beside ip -batch and Mininet.",
    "verdict": "From the command to the verdict, by kernel and phase.",
    "director": "What a packet costs a director by forwarding method, and a node in memory.",
    "capture": "Packets recorded without loss, beside tcpdump and scapy.",
    "walk": "How fast frames are joined into walks, and in how much memory.",
    "headline": "Throughput of VS/NAT, VS/DR and VS/TUN by number of servers.",
    "skew": "How evenly round-robin DNS and IPVS load servers.",
}


@click.group("bench", cls=LazyGroup, verbs=VERBS, package="lvslab.cli.bench")
def command() -> None:
    """Measure what the papers claim in figures."""
