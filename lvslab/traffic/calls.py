"""Test calls from a client node: HTTP over TCP, echo over UDP and SCTP, raw questions; each from a chosen port."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lvslab.sandbox.sandbox import Sandbox
from lvslab.topology.model import Address, Protocol
from lvslab.traffic.outcome import Outcome

_PADDING_HEADER = "X-Padding: "
TIMEOUT_S = 2.0
"""Long enough for one retransmitted SYN (1 s, RFC 6298)."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a call goes, and from which address and port; source port 0 lets the kernel choose."""

    kind: str
    """stream, prefixed, datagram or sctp: see :mod:`lvslab.agent.clients`."""
    source: str
    source_port: int
    address: str
    port: int
    question: bytes

    @property
    def protocol(self) -> Protocol:
        return {"datagram": Protocol.UDP, "sctp": Protocol.SCTP}.get(self.kind, Protocol.TCP)


def http_target(source: Address, source_port: int, address: Address, port: int, *, request_bytes: int = 0) -> Target:
    question = http_question(address, request_bytes=request_bytes)
    return Target("stream", str(source), source_port, str(address), port, question)


def http_question(address: Address, path: str = "/", *, request_bytes: int = 0) -> bytes:
    """Return a question for `path`, padded to `request_bytes`."""
    host = f"[{address}]" if address.version == 6 else str(address)
    head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: lvslab\r\nConnection: close\r\n"
    lacking = request_bytes - len(head) - len(_PADDING_HEADER) - 2 * len("\r\n")
    padding = f"{_PADDING_HEADER}{'x' * lacking}\r\n" if lacking > 0 else ""
    return f"{head}{padding}\r\n".encode()


def echo_target(
    source: Address, source_port: int, address: Address, port: int, number: int = 1, *, request_bytes: int = 0
) -> Target:
    """Return the datagram of this number from its port; no two have the same text, so that each can be told apart."""
    question = f"lvslab {source_port} {number}".encode().ljust(request_bytes, b" ")
    return Target("datagram", str(source), source_port, str(address), port, question)


def sctp_target(source: Address, source_port: int, address: Address, port: int) -> Target:
    """Return a call over an association of its own, with one message for an echo server."""
    return Target("sctp", str(source), source_port, str(address), port, f"lvslab {source_port}".encode())


TARGETS: Final[Mapping[Protocol, Callable[[Address, int, Address, int], Target]]] = {
    Protocol.TCP: http_target,
    Protocol.UDP: echo_target,
    Protocol.SCTP: sctp_target,
}
"""The call that a service of each protocol gets."""


def make_calls(
    sandbox: Sandbox, client: str, targets: Sequence[Target], *, timeout_s: float = TIMEOUT_S
) -> tuple[Outcome, ...]:
    """Run the calls in order from `client`; return their outcomes in the same order. Raises KernelFault."""
    answer = sandbox.call(client, [call_fields(target) for target in targets], [t.question for t in targets], timeout_s)
    return tuple(
        Outcome(client, source_port, target.address, target.port, status, seconds, blob, target.protocol)
        for target, (status, source_port, seconds), blob in zip(
            targets, answer.fields["outcomes"], answer.blobs, strict=True
        )
    )


def call_fields(target: Target) -> Mapping[str, object]:
    return {
        "kind": target.kind,
        "source": target.source,
        "source_port": target.source_port,
        "address": target.address,
        "port": target.port,
    }
