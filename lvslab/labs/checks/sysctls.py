"""Kernel settings of nodes."""

from __future__ import annotations

from pydantic import Field

from lvslab.labs.checks.nodes import on_each
from lvslab.labs.finding import Finding, judged
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import same, words
from lvslab.topology.document import Entry, Texts


class Sysctl(Entry):
    """The setting `key` has one of the values."""

    node: str = Field(description="a node, or several by a pattern")
    key: str
    value: Texts


@check("sysctl", Sysctl)
def sysctl(view: View, wanted: Sysctl) -> Finding:
    def judge(node: str) -> Finding:
        found = " ".join(view.sysctl(node, wanted.key).split())
        allowed = " / ".join(wanted.value)
        expected = words(
            "{key} is {value} on {node}", "{node} 上 {key} 为 {value}", key=wanted.key, value=allowed, node=node
        )
        command = same(f"sysctl -w {wanted.key}={wanted.value[0]}")
        cure = words("on {node}: {command}", "在 {node} 上：{command}", node=node, command=command)
        return judged(
            found in wanted.value, expected, words("it is {found}", "现在是 {found}", found=found), node, next_step=cure
        )

    return on_each(view, wanted.node, judge)
