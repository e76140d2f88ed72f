"""What the name server, the resolver and the programs on a node make of a round-robin name."""

from pydantic import Field

from lvslab.labs.node_names import NodeName, NodeNames
from lvslab.labs.registry import Observed, observation
from lvslab.labs.words import same
from lvslab.topology.document import Connections, Entry

WINDOWS = 4
"""How often a look may fall across the end of a TTL before it is given up."""


class Successor(Entry):
    """The server whose address begins the name server's next answer after one that begins with `after`."""

    node: NodeName
    after: NodeName


@observation("successor", Successor)
def successor(view, wanted):
    servers = len(_name(view).records)
    firsts = _firsts(view, wanted.node, servers + 1)
    if wanted.after not in firsts[:-1]:
        return None
    return Observed(firsts[firsts.index(wanted.after) + 1], same(" ".join(firsts)), _name(view).server)


class StillFirst(Entry):
    """How many of one full turn of the name server's answers begin with `server`."""

    node: NodeName
    server: NodeName


@observation("still-first", StillFirst)
def still_first(view, wanted):
    firsts = _firsts(view, wanted.node, len(_name(view).records))
    return Observed(str(firsts.count(wanted.server)), same(" ".join(firsts)), _name(view).server)


class Reached(Entry):
    """To how many servers the nodes are sent, looking the name up so often each, before the cache's answer ends."""

    nodes: NodeNames
    times: Connections = Field(default=2)


@observation("reached", Reached)
def reached(view, wanted):
    for _ in range(WINDOWS):
        before = _ttl(view, wanted.nodes[0])
        found = [owner for node in wanted.nodes for owner in _looked_up(view, node, wanted.times)]
        if _ttl(view, wanted.nodes[0]) <= before:
            return Observed(str(len(set(found))), same(" ".join(found)), _name(view).resolver)
    return None


class Called(Entry):
    """The servers that answer a node's calls by name, each once."""

    node: NodeName
    times: Connections


@observation("called", Called)
def called(view, wanted):
    url = f"http://{_name(view).name}:{_name(view).port}/"
    loop = f"for i in $(seq {wanted.times}); do curl -q -s --max-time 3 {url} | head -n 1; done"
    names = view.run(wanted.node, "bash", "-c", loop).output.split()
    return Observed(" ".join(dict.fromkeys(names)), same(" ".join(names)), wanted.node)


def _name(view):
    return view.topology.name_services[0]


def _firsts(view, node, times):
    """Ask the name server itself; return whose address came first in each answer."""
    server = view.topology.node(_name(view).server).own_addresses[0]
    question = f"dig +short @{server} {_name(view).name} A | head -n 1"
    printed = view.run(node, "bash", "-c", f"for i in $(seq {times}); do {question}; done").output
    return [view.owner_of_address(address) for address in printed.split()]


def _looked_up(view, node, times):
    question = f"getent ahostsv4 {_name(view).name} | head -n 1"
    printed = view.run(node, "bash", "-c", f"for i in $(seq {times}); do {question}; done").output
    return [view.owner_of_address(line.split()[0]) for line in printed.splitlines()]


def _ttl(view, node):
    return int(view.run(node, "dig", "+noall", "+answer", _name(view).name, "A").output.split()[1])
