"""Default routes of nodes."""

from __future__ import annotations

from pydantic import Field

from lvslab.labs.checks.nodes import on_each
from lvslab.labs.finding import Finding, judged
from lvslab.labs.node_names import NodePattern
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import Words, words
from lvslab.topology.document import Entry


class Gateway(Entry):
    """The default route of `node` goes by `via`, and there is no other."""

    node: NodePattern = Field(description="a node, or several by a pattern")
    via: str


@check("gateway", Gateway)
def gateway(view: View, wanted: Gateway) -> Finding:
    owner = view.owner_of_address(wanted.via)
    via = wanted.via if owner == wanted.via else f"{wanted.via} ({owner})"

    def expected_of(node: str) -> Words:
        return words("the default route of {node} goes by {via}", "{node} 的默认路由经过 {via}", node=node, via=via)

    def judge(node: str, expected: Words) -> Finding:
        found = view.facts(node).gateways
        seen = (
            words("it goes by {found}", "现在经过 {found}", found=", ".join(found))
            if found
            else words("it has none", "没有默认路由")
        )
        look = words("on {node}: ip route show", "在 {node} 上：ip route show", node=node)
        return judged(found == (wanted.via,), expected, seen, node, next_step=look)

    return on_each(view, wanted.node, expected_of, judge)
