"""real_server and sorry_server: where they are, and how packets get there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lvslab.errors import BadInput
from lvslab.importing.finding import Finding
from lvslab.importing.keepalived import vocabulary
from lvslab.importing.keepalived.addresses import address_of
from lvslab.importing.keepalived.statements import Statement
from lvslab.ipvs.model import Destination
from lvslab.ipvs.text.values import number_of, word_of
from lvslab.ipvs.validate import MAX_PORT
from lvslab.topology.model import IPIP, Address, Method, Tunnel, TunnelChecksum, TunnelKind
from lvslab.topology.wording import did_you_mean

_METHODS: Final = {"NAT": Method.NAT, "DR": Method.DR, "TUN": Method.TUN}
_KINDS: Final = {kind.value: kind for kind in TunnelKind}
_CHECKSUMS: Final = {checksum.value: checksum for checksum in TunnelChecksum}
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Forwarding:
    method: Method
    tunnel: Tunnel = IPIP


@dataclass(slots=True)
class RealServer:
    """A server as its block says; what is None is the virtual server's."""

    line: int
    address: Address
    port: int | None
    forwarding: Forwarding | None = None
    weight: int = 1
    upper_threshold: int = 0
    lower_threshold: int = 0

    def destination(self, forwarding: Forwarding, service_port: int) -> Destination:
        chosen = self.forwarding or forwarding
        return Destination(
            address=self.address,
            port=self.port or service_port,
            method=chosen.method,
            weight=self.weight,
            upper_threshold=self.upper_threshold,
            lower_threshold=self.lower_threshold,
            tunnel=chosen.tunnel,
        )


def judged(findings: list[Finding], statement: Statement, read: Callable[[], None]) -> None:
    """Read a statement; what is wrong with it goes to the findings, at its line."""
    try:
        read()
    except BadInput as error:
        findings.append(Finding.of(error, statement.line))


def read_server(statement: Statement) -> RealServer:
    """Read `real_server ADDRESS [PORT]` without its block. Raises BadInput, without a place."""
    has_port = len(statement.words) > 2
    port = number_of(statement.words[2], "port", 0, MAX_PORT) if has_port else None
    return RealServer(statement.line, address_of(statement.argument()), port)


def take_server_entry(entry: Statement, into: RealServer) -> None:
    """Read one statement of a real_server's block. Raises BadInput, without a place."""
    match entry.keyword:
        case "weight":
            into.weight = number_of(entry.argument(), "weight", 0, _LARGEST)
        case "uthreshold":
            into.upper_threshold = number_of(entry.argument(), "threshold", 0, _LARGEST)
        case "lthreshold":
            into.lower_threshold = number_of(entry.argument(), "threshold", 0, _LARGEST)
        case "lvs_method":
            into.forwarding = read_forwarding(entry)
        case other:
            require_known(other, vocabulary.SERVER, "real_server")


def require_known(keyword: str, known: tuple[str, ...], block: str) -> None:
    """Raise BadInput, without a place, for a keyword that keepalived would ignore with a line in its log."""
    if keyword not in known:
        raise BadInput(
            f"unknown keyword in {block}, which keepalived ignores",
            found=repr(keyword),
            next_step=did_you_mean(keyword, known),
        )


def read_forwarding(entry: Statement) -> Forwarding:
    """Read `NAT`, `DR`, or `TUN [type {ipip|gue port NUMBER|gre} [nocsum|csum|remcsum]]`."""
    method = word_of(_METHODS, entry.argument(), "forwarding method")
    words = entry.words[2:]
    if method is not Method.TUN or not words:
        return Forwarding(method)
    if words[0] != "type" or len(words) < 2:
        raise BadInput("unknown option of TUN", expected="type ipip, gue or gre", found=repr(" ".join(words)))
    kind, rest = word_of(_KINDS, words[1], "tunnel type"), words[2:]
    port = 0
    if rest[:1] == ["port"] and len(rest) > 1:
        port, rest = number_of(rest[1], "tunnel port", 1, MAX_PORT), rest[2:]
    checksum = word_of(_CHECKSUMS, rest[0], "tunnel checksum") if rest else TunnelChecksum.NONE
    return Forwarding(method, Tunnel(kind, port, checksum))
