"""How one test call ended, as the client saw it."""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.topology.model import Protocol


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call. `status` is `ok` or the name of an errno: ECONNREFUSED, ECONNRESET, ETIMEDOUT, EHOSTUNREACH, …"""

    client: str
    client_port: int
    address: str
    port: int
    status: str
    seconds: float
    answer: bytes
    protocol: Protocol = Protocol.TCP

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def server(self) -> str:
        """The name the server gave in its answer's first line, or an empty string."""
        body = self.answer.split(b"\r\n\r\n", 1)[-1] if self.answer.startswith(b"HTTP/") else self.answer
        return body.split(b"\n", 1)[0].decode(errors="replace") if self.ok else ""
