"""The networks of a document, as the model has them."""

from __future__ import annotations

from lvslab.topology.addressing import parse_subnet
from lvslab.topology.document import Document
from lvslab.topology.faults import Collector
from lvslab.topology.model import Network, Subnet


def resolve_networks(document: Document, collect: Collector) -> tuple[Network, ...]:
    networks = []
    for name, texts in document.networks.items():
        subnets: list[Subnet] = []
        for text in texts:
            with collect.at("networks", name):
                subnets.append(parse_subnet(text))
        networks.append(Network(name, tuple(subnets)))
    return tuple(networks)
