"""What a test client is asked to do, and how it went."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass
from typing import Any

RECEIVE_BYTES = 1 << 18
_IP_BIND_ADDRESS_NO_PORT = 24
"""include/uapi/linux/in.h; Python 3.11 does not name it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question to ask. `kind`: stream (read to the end), prefixed (DNS over TCP, RFC 7766), datagram or sctp."""

    kind: str
    source: str
    source_port: int
    address: str
    port: int
    question: bytes

    @classmethod
    def from_fields(cls, fields: dict[str, Any], question: bytes) -> Call:
        return cls(fields["kind"], fields["source"], fields["source_port"], fields["address"], fields["port"], question)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: `ok`, or the name of the errno (ECONNREFUSED, ETIMEDOUT, …)."""

    status: str
    source_port: int
    seconds: float
    answer: bytes


def open_socket(call: Call) -> socket.socket:
    """Return a socket for a call; SCTP's is of the one-to-one style, which is used like TCP's (RFC 6458 section 4)."""
    family = socket.AF_INET6 if ":" in call.address else socket.AF_INET
    kind = socket.SOCK_DGRAM if call.kind == "datagram" else socket.SOCK_STREAM
    return socket.socket(family, kind, socket.IPPROTO_SCTP if call.kind == "sctp" else 0)


def bind_source(channel: socket.socket, source: str, port: int) -> None:
    """Bind a socket that will connect; with port 0 the kernel chooses one when it connects (ip(7)).

    It then goes from port to port, where bind(2) would draw one at random, and may draw one that a director still
    knows a connection by: the call would go to the server of that connection, or be dropped.
    """
    if port == 0:
        channel.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
    channel.bind((source, port))


def error_name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "EIO")
