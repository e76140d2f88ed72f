"""Throughput: what a client gets out of a service with several connections at once, in the kernel's own time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lvslab.sandbox.sandbox import Sandbox
from lvslab.topology.model import Address
from lvslab.traffic.calls import http_question

DEFAULT_ANSWER_BYTES = 1_000_000_000
"""Longer than any load lasts: each connection then stays open to the end."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one server gave: its connections, and the bytes of answers (HTTP heads included) that arrived."""

    server: str
    connections: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Throughput:
    """The outcome of a load. `seconds` are those in which the bytes came: the warm-up is not in them."""

    seconds: float
    shares: tuple[Share, ...]
    """By name of the server."""
    failures: Mapping[str, int]
    """Connections that failed, by the errno's name."""

    @property
    def bytes(self) -> int:
        return sum(share.bytes for share in self.shares)

    @property
    def bit_s(self) -> float:
        """Bits per second of all servers together."""
        return 8 * self.bytes / self.seconds


def run_load(
    sandbox: Sandbox,
    client: str,
    source: Address,
    address: Address,
    port: int,
    *,
    connections: int,
    seconds: float,
    warm_up_s: float = 0.0,
    answer_bytes: int = DEFAULT_ANSWER_BYTES,
) -> Throughput:
    """Keep so many connections fetching from `client` for `seconds`; count after `warm_up_s`. Raises KernelFault.

    Each fetches an answer of `answer_bytes`, and when that has ended the next. What is not answered in time is
    broken off.
    """
    answer = sandbox.load(
        client,
        {
            "source": str(source),
            "address": str(address),
            "port": port,
            "connections": connections,
            "seconds": seconds,
            "warm_up_s": warm_up_s,
        },
        http_question(address, f"/bytes/{answer_bytes}"),
        seconds,
    )
    shares = tuple(Share(*share) for share in answer.fields["servers"])
    return Throughput(answer.fields["seconds"], shares, answer.fields["failures"])
