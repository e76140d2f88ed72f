"""Servers of one service: there must be some, and what is said of them should have an effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lvslab.importing.configuration import Configuration
from lvslab.importing.finding import Finding
from lvslab.ipvs.model import Flag
from lvslab.topology.model import Method

_WITHOUT_WEIGHTS: Final = ("rr", "lc", "dh")
"""ip_vs_rr.c, ip_vs_lc.c, ip_vs_dh.c look only for weight 0."""


def none_at_all(configuration: Configuration) -> Iterator[Finding]:
    for written in configuration.services:
        if not written.destinations:
            yield Finding(
                written.line,
                "service without servers: every connection is refused",
                expected="at least one",
                found=str(written.service.key),
            )


def all_weights_zero(configuration: Configuration) -> Iterator[Finding]:
    """Weight 0 takes no new connection (ipvsadm(8), --weight)."""
    for written in configuration.services:
        if written.destinations and not any(item.destination.weight for item in written.destinations):
            yield Finding(
                written.line,
                "all weights are 0: every new connection is refused",
                expected="a server with a weight above 0",
                found=str(written.service.key),
            )


def weights_without_effect(configuration: Configuration) -> Iterator[Finding]:
    for written in configuration.services:
        scheduler = written.service.scheduler
        weights = sorted({item.destination.weight for item in written.destinations} - {0})
        if scheduler in _WITHOUT_WEIGHTS and len(weights) > 1:
            yield Finding(
                written.line,
                f"weights have no effect with {scheduler}",
                found=f"weights {', '.join(map(str, weights))}",
                next_step="use wrr or wlc" if scheduler != "dh" else None,
                is_warning=True,
            )


def one_packet_through_nat(configuration: Configuration) -> Iterator[Finding]:
    """With one-packet scheduling no entry is left that could translate the answer back."""
    for written in configuration.services:
        if Flag.ONE_PACKET not in written.service.flags:
            continue
        for item in written.destinations:
            if item.destination.method is Method.NAT:
                yield Finding(
                    item.line,
                    "one-packet scheduling with nat: answers leave with the server's address",
                    next_step="use dr or tun, or leave one-packet scheduling out",
                    is_warning=True,
                )


RULES: Final = (none_at_all, all_weights_zero, weights_without_effect, one_packet_through_nat)
