"""The smallest TTL with which the client's packets reach a server, worked out of the walk that they take."""

from lvslab.labs.finding import judged
from lvslab.labs.node_names import NodeName
from lvslab.labs.observations.packets import first_walks
from lvslab.labs.registry import check
from lvslab.labs.words import words
from lvslab.topology.document import Entry


class SmallestTtl(Entry):
    """The client's packets arrive at a server with a TTL of 1: one less, and they would not."""

    client: NodeName


@check("smallest-ttl", SmallestTtl)
def smallest_ttl(view, wanted):
    arriving = next(first_walks(view, "request", None)).hops[-1]
    spare = arriving.packet.ip.ttl - 1
    expected = words(
        "the TTL of {node} is the smallest that will do", "{node} 的 TTL 是够用的最小值", node=wanted.client
    )
    enough = words("it is just enough", "正好够用")
    seen = enough if spare == 0 else words("a smaller one will do as well", "更小的值也够用")
    return judged(spare == 0, expected, seen, wanted.client)
