"""DNS questions and answers, encoded and decoded by dnspython, which is loaded only where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from lvslab.sandbox.sandbox import Sandbox
from lvslab.topology.model import Address
from lvslab.traffic.calls import Target, make_calls
from lvslab.traffic.outcome import Outcome

DNS_PORT = 53
MAX_UDP_RECORDS = 60
"""More address records than this do not surely fit a UDP answer of 1,232 bytes; then ask over TCP (RFC 7766)."""
UDP_PAYLOAD_BYTES = 1232
DECODED_KEPT = 4096
"""Answers with 256 records take long to decode, and each expectation looks at all of them."""
_LENGTH_BYTES = 2


@dataclass(frozen=True, slots=True)
class DnsAnswer:
    """The address records of one answer, in its order."""

    addresses: tuple[str, ...]
    ttl_s: int


def ask(
    sandbox: Sandbox, client: str, source: Address, server: Address, names: Sequence[str], *, over_tcp: bool
) -> tuple[Outcome, ...]:
    """Ask `server` for the IPv4 addresses of each name in turn, the same name as often as it is given."""
    targets = [_target(source, server, name, number, over_tcp=over_tcp) for number, name in enumerate(names, 1)]
    return make_calls(sandbox, client, targets)


def _target(source: Address, server: Address, name: str, number: int, *, over_tcp: bool) -> Target:
    import dns.message
    import dns.rdatatype

    query = dns.message.make_query(name, dns.rdatatype.A, use_edns=0, payload=UDP_PAYLOAD_BYTES, id=number)
    wire = query.to_wire()
    if over_tcp:
        return Target(
            "prefixed", str(source), 0, str(server), DNS_PORT, len(wire).to_bytes(_LENGTH_BYTES, "big") + wire
        )
    return Target("datagram", str(source), 0, str(server), DNS_PORT, wire)


@lru_cache(maxsize=DECODED_KEPT)
def asks_for(payload: bytes, name: str, *, over_tcp: bool) -> bool:
    """Return whether a DNS message asks for the IPv4 addresses of `name`."""
    import dns.exception
    import dns.message
    import dns.name
    import dns.rdatatype

    try:
        message = dns.message.from_wire(payload[_LENGTH_BYTES:] if over_tcp else payload, question_only=True)
    except dns.exception.DNSException:
        return False
    wanted = dns.name.from_text(name)
    return any(item.name == wanted and item.rdtype == dns.rdatatype.A for item in message.question)


@lru_cache(maxsize=DECODED_KEPT)
def decode(payload: bytes, *, over_tcp: bool) -> DnsAnswer | None:
    """Return the address records of a DNS message; None if it is no answer, or not DNS."""
    import dns.exception
    import dns.message
    import dns.rdatatype

    try:
        message = dns.message.from_wire(payload[_LENGTH_BYTES:] if over_tcp else payload)
    except dns.exception.DNSException:
        return None
    records = [record for record in message.answer if record.rdtype == dns.rdatatype.A]
    if not records:
        return None
    addresses = tuple(item.address for record in records for item in record)
    return DnsAnswer(addresses, min(record.ttl for record in records))
