"""From the document to the model: every name looked up, every default filled in, all faults of a stage together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lvslab.topology.checks.networks import check_networks
from lvslab.topology.document import Document
from lvslab.topology.faults import Collector, Places, UnusableError
from lvslab.topology.gateways import implied_gateway, named_gateway
from lvslab.topology.implied import with_implied_settings
from lvslab.topology.model import Node, Topology, Traffic
from lvslab.topology.name_services import resolve_name_services
from lvslab.topology.networks import resolve_networks
from lvslab.topology.nodes import resolve_nodes, unfold_groups
from lvslab.topology.removal import Removal, parse_removal, remove_setting
from lvslab.topology.services import resolve_services


def resolve(document: Document, places: Places) -> tuple[Topology, Places]:
    """Return the topology with all implied settings, and the places with what came from groups.

    Raises :class:`~lvslab.errors.BadInputs`: later stages look only at what earlier ones could resolve.
    """
    collect = Collector()
    networks = resolve_networks(document, collect)
    groups = unfold_groups(document, collect)
    places.raise_any(collect.faults)
    places.raise_any(check_networks(networks))
    places = replace(places, written=collect.written)
    nodes = resolve_nodes(document, networks, groups, collect)
    places.raise_any(collect.faults)
    services = resolve_services(document, networks, nodes, collect)
    topology = Topology(
        name=document.name,
        title=document.title.model_dump(exclude_none=True) if document.title else {"en": document.name},
        networks=networks,
        nodes=nodes,
        services=services,
        name_services=resolve_name_services(document, nodes, services, collect),
        expect=tuple(document.expect),
        traffic=Traffic(**document.traffic.model_dump()),
        source=places.source,
    )
    places.raise_any(collect.faults)
    topology = replace(topology, nodes=_with_gateways(topology, document, groups, collect))
    places.raise_any(collect.faults)
    return with_implied_settings(topology), places


def _with_gateways(
    topology: Topology, document: Document, groups: Mapping[str, str], collect: Collector
) -> tuple[Node, ...]:
    nodes = []
    for node in topology.nodes:
        named = document.nodes[groups[node.name]].gateway
        with collect.at("nodes", node.name, "gateway"):
            gateway = implied_gateway(node, topology) if named is None else named_gateway(node, named, topology.nodes)
            nodes.append(replace(node, gateway=gateway))
    return tuple(nodes)


def remove_in_document(topology: Topology, document: Document, places: Places) -> Topology:
    """Take away the settings that the file's own ``without:`` keys name; raises :class:`~lvslab.errors.BadInputs`."""
    collect = Collector()
    nodes = topology.nodes
    for index, text in enumerate(document.without):
        with collect.at("without", index):
            nodes = remove_setting(nodes, parse_removal(text), topology.nodes)
    for key, entry in document.nodes.items():
        for index, text in enumerate(entry.without):
            with collect.at("nodes", key, "without", index):
                nodes = remove_setting(nodes, _within_node(text, key), topology.nodes)
    places.raise_any(collect.faults)
    return replace(topology, nodes=nodes)


def _within_node(text: str, key: str) -> Removal:
    removal = parse_removal(text)
    if removal.pattern is not None:
        raise UnusableError("'@' inside a node", expected="the setting alone", found=repr(text))
    return Removal(removal.setting, key)


def remove_as_asked(topology: Topology, implied: Topology, without: Sequence[str]) -> Topology:
    """Take away the settings that the caller names (``--without``); raises :class:`~lvslab.errors.BadInputs`."""
    nodes = topology.nodes
    for text in without:
        collect = Collector()
        with collect.at():
            nodes = remove_setting(nodes, parse_removal(text), implied.nodes)
        Places(f"--without {text}").raise_any(collect.faults)
    return replace(topology, nodes=nodes)
