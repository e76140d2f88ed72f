"""Counters of a node's kernel, while the client calls: for losses that no log tells of."""

from __future__ import annotations

from pydantic import Field

from lvslab.labs.checks.nodes import nodes_of, on_each
from lvslab.labs.finding import Finding, judged
from lvslab.labs.node_names import NodeName, NodePattern
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import Words, words
from lvslab.sandbox.facts import counters
from lvslab.topology.document import Connections, Entry

_GROUPS = ("TcpExt", "IpExt")
"""What nstat(8) puts before the names of /proc/net/netstat."""


class Counter(Entry):
    """`counter` of the nodes grows while so many calls are made; or with `grows: false` it does not."""

    node: NodePattern = Field(description="a node, or several by a pattern: the counter of each")
    counter: str = Field(description="a name of /proc/net/netstat, as nstat writes it")
    grows: bool = True
    client: NodeName | None = None
    times: Connections = 2


@check("counter", Counter)
def counter(view: View, wanted: Counter) -> Finding:
    before = {node: _read(view, node, wanted.counter) for node in nodes_of(view, wanted.node)}
    view.call(wanted.client, wanted.times)

    def expected_of(node: str) -> Words:
        en = "{name} of {node} grows while the client calls"
        zh = "客户端访问期间，{node} 的 {name} 增长"
        if not wanted.grows:
            en, zh = "{name} of {node} does not grow while the client calls", "客户端访问期间，{node} 的 {name} 不增长"
        return words(en, zh, name=wanted.counter, node=node)

    def judge(node: str, expected: Words) -> Finding:
        more = _read(view, node, wanted.counter) - before[node]
        seen = words("it grew by {more}", "增长了 {more}", more=more)
        look = words("on {node}: nstat -asz {name}", "在 {node} 上：nstat -asz {name}", node=node, name=wanted.counter)
        return judged((more > 0) is wanted.grows, expected, seen, node, next_step=look)

    return on_each(view, wanted.node, expected_of, judge)


def _read(view: View, node: str, name: str) -> int:
    """Raises LookupError for a counter that this kernel does not have."""
    known = counters(view.run(node, "cat", "/proc/net/netstat").output)
    for group in _GROUPS:
        name = name.removeprefix(group)
    if name not in known:
        raise LookupError(f"{node} has no counter {name}")
    return known[name]
