"""A topology in sentences, for those who cannot see the drawing."""

from __future__ import annotations

from collections.abc import Iterator

from lvslab.report.graph.facts import removed_settings
from lvslab.report.graph.notes import make_notes, short_names
from lvslab.report.graph.order import networks_in_order
from lvslab.report.graph.phrases import ENGLISH, GraphPhrases
from lvslab.report.printable import printable
from lvslab.topology.model import Setting, Topology


def title_of(topology: Topology, language: str) -> str:
    """Return the title in a language, else in English, else the name."""
    return printable(topology.title.get(language) or topology.title.get(ENGLISH) or topology.name)


def summary(topology: Topology, say: GraphPhrases) -> str:
    """Return which nodes are on which network, the services and names, and what was taken away."""
    return say.joint.join((*_networks(topology, say), *_notes(topology, say), *_removed(topology, say)))


def _networks(topology: Topology, say: GraphPhrases) -> Iterator[str]:
    for network in networks_in_order(topology):
        names = [node.name for node in topology.nodes if any(each.network == network.name for each in node.interfaces)]
        yield say.network.format(name=network.name, nodes=short_names(names, say) or say.no_nodes)


def _notes(topology: Topology, say: GraphPhrases) -> Iterator[str]:
    for note in make_notes(topology, say):
        yield say.note.format(heading=note.heading, lines=say.comma.join(note.lines))


def _removed(topology: Topology, say: GraphPhrases) -> Iterator[str]:
    lacking = [(node.name, removed_settings(node, topology)) for node in topology.nodes]
    for setting in Setting:
        if names := [name for name, removed in lacking if setting in removed]:
            yield say.without.format(setting=setting, nodes=short_names(names, say))
