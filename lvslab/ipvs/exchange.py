"""The transport this package asks for: netlink messages go into a namespace, answers come back.

Whoever holds the kernel provides it; here nothing opens a socket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reply:
    """The kernel's answer to one message."""

    errno: int
    """Positive, as in errno(3); 0 when the kernel accepted the message."""
    payloads: tuple[bytes, ...] = ()
    """Whole netlink messages, headers included, without NLMSG_DONE and NLMSG_ERROR."""


class Exchange(Protocol):
    """Send messages over NETLINK_GENERIC inside a namespace, in order; return one reply per message.

    The transport fills in sequence numbers and port ids. It sends every message, even after one was refused.
    """

    def __call__(self, namespace: str, messages: Sequence[bytes]) -> list[Reply]: ...
