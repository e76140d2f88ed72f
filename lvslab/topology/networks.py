"""The networks of a document, as the model has them."""

from __future__ import annotations

from lvslab.topology.addressing import parse_subnet
from lvslab.topology.document import Document, NetworkEntry
from lvslab.topology.faults import Collector
from lvslab.topology.model import DEFAULT_MTU, Network, Shaping, Subnet
from lvslab.topology.shaping import parse_delay, parse_rate


def resolve_networks(document: Document, collect: Collector) -> tuple[Network, ...]:
    networks = []
    for name, entry in document.networks.items():
        subnets: list[Subnet] = []
        for text in entry.subnets:
            with collect.at("networks", name):
                subnets.append(parse_subnet(text))
        mtu = DEFAULT_MTU if entry.mtu is None else entry.mtu
        networks.append(Network(name, tuple(subnets), _shaping(name, entry, collect), mtu))
    return tuple(networks)


def _shaping(name: str, entry: NetworkEntry, collect: Collector) -> Shaping:
    rate_bit_s, delay_ms = None, 0
    if entry.rate is not None:
        with collect.at("networks", name, "rate"):
            rate_bit_s = parse_rate(entry.rate)
    if entry.delay is not None:
        with collect.at("networks", name, "delay"):
            delay_ms = parse_delay(entry.delay)
    return Shaping(rate_bit_s, delay_ms)
