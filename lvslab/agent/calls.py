"""What a test client is asked to do, and how it went."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Any

RECEIVE_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class Call:
    """One question to ask. `kind`: stream (read to the end), prefixed (DNS over TCP, RFC 7766) or datagram."""

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


def error_name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "EIO")
