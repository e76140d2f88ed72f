"""What a URL in a test means in a lab: ``http://198.18.0.10/``, ``http://vip/``, ``udp://198.18.0.10:53``."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lvslab.errors import BadInput
from lvslab.sandbox.machines import host_names
from lvslab.topology.model import Protocol
from lvslab.topology.wording import did_you_mean, one_of

if TYPE_CHECKING:
    from lvslab.topology.model import Address, Topology

HTTP_PORT = 80
PROTOCOLS = {"http": Protocol.TCP, "udp": Protocol.UDP, "sctp": Protocol.SCTP}
EXAMPLE = "http://198.18.0.10/, udp://198.18.0.10:53 or sctp://vip:3868"


@dataclass(frozen=True, slots=True)
class Callee:
    """Whom a call is for."""

    address: Address
    port: int
    protocol: Protocol


def callee(url: str, topology: Topology) -> Callee:
    """Return whom a URL names; its host may be a node or `vip`. Raises BadInput."""
    if not isinstance(url, str):
        raise BadInput("not a URL", expected=EXAMPLE, found=repr(url))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise BadInput("not a URL", where=url, expected=EXAMPLE, found=str(error)) from error
    protocol = PROTOCOLS.get(parts.scheme)
    if protocol is None or not host or parts.path not in ("", "/") or parts.query:
        raise BadInput("cannot be called", where=url, expected=EXAMPLE, next_step="record() shows what programs send")
    if port is None:
        if protocol is not Protocol.TCP:
            raise BadInput("no port", where=url, expected=EXAMPLE)
        port = HTTP_PORT
    return Callee(address_of(host, topology), port, protocol)


def address_of(host: str, topology: Topology) -> Address:
    """Return an address written as such, or that of a node or `vip`. Raises BadInput."""
    try:
        return ip_address(host)
    except ValueError:
        names: dict[str, Address] = {}
        for name, address in host_names(topology):
            names.setdefault(name.lower(), address)  # as urlsplit has it (RFC 3986, 3.2.2)
        if host not in names:
            raise BadInput(
                f"no host {host!r}", where=topology.name, expected=one_of(names), next_step=did_you_mean(host, names)
            ) from None
        return names[host]
