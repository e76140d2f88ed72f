"""lvslab bench: lvslab measured, and the papers' figures."""

from __future__ import annotations

import click

from lvslab.cli.lazy import LazyGroup
from lvslab.cli.options import json_option, kernel_option
from lvslab.errors import BadInput

VERBS = {
    "build": "What building and removing a network costs, beside ip -batch and Mininet.",
    "verdict": "From the command to the verdict, by kernel and phase.",
    "director": "What a packet costs a director by forwarding method, and a node in memory.",
    "capture": "Packets recorded without loss, beside tcpdump and scapy.",
    "walk": "How fast frames are joined into walks, and in how much memory.",
    "headline": "Throughput of VS/NAT, VS/DR and VS/TUN by number of servers.",
    "skew": "How evenly round-robin DNS and IPVS load servers.",
}


@click.group("bench", cls=LazyGroup, verbs=VERBS, package="lvslab.cli.bench", invoke_without_command=True)
@kernel_option
@json_option
@click.pass_context
def command(context: click.Context, kernel: str | None, json_path: str | None) -> None:
    """Measure lvslab, and what the papers claim in figures.

    Without a command: all benchmarks, in under ten minutes on an idle machine, and one table of their ratios.
    """
    if context.invoked_subcommand is None:
        from lvslab.cli.bench.everything import run_all

        run_all(kernel, json_path)
    elif kernel is not None or json_path is not None:
        raise BadInput("options go after the benchmark's name", where=f"bench {context.invoked_subcommand}")
