"""Addresses that nodes hold, or must not hold."""

from __future__ import annotations

from pydantic import Field

from lvslab.labs.checks.nodes import on_each
from lvslab.labs.finding import Finding, failed, judged, passed
from lvslab.labs.node_names import NodePattern
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import NOTHING, Words, words
from lvslab.topology.document import Entry, VipPrefix


class Address(Entry):
    """`node` holds `address`, on `device` and with this prefix length where they are given."""

    node: NodePattern = Field(description="a node, or several by a pattern")
    address: str
    device: str | None = None
    prefix: VipPrefix | None = None


@check("address", Address)
def address(view: View, wanted: Address) -> Finding:
    def expected_of(node: str) -> Words:
        shown = wanted.address if wanted.prefix is None else f"{wanted.address}/{wanted.prefix}"
        on = words(" on {device}", "（{device}）", device=wanted.device) if wanted.device else NOTHING
        return words("{node}: address {address}{on}", "{node}：地址 {address}{on}", node=node, address=shown, on=on)

    def judge(node: str, expected: Words) -> Finding:
        held, prefix = view.facts(node).holder_of(wanted.address), wanted.prefix
        look = _look(node)
        if held is None:
            return failed(expected, words("it does not have it", "没有这个地址"), node, next_step=look)
        has = f"{wanted.address}/{held[1]}"
        seen = words("{address} on {device}", "{address}，在 {device} 上", address=has, device=held[0])
        right = wanted.device in (None, held[0]) and prefix in (None, held[1])
        return judged(right, expected, seen, f"{node}:{held[0]}", next_step=look)

    return on_each(view, wanted.node, expected_of, judge)


class NoAddress(Entry):
    """`node` does not hold `address` on any device."""

    node: NodePattern = Field(description="a node, or several by a pattern")
    address: str


@check("no-address", NoAddress)
def no_address(view: View, wanted: NoAddress) -> Finding:
    def expected_of(node: str) -> Words:
        return words("no {address} on {node}", "{node} 没有地址 {address}", node=node, address=wanted.address)

    def judge(node: str, expected: Words) -> Finding:
        held = view.facts(node).holder_of(wanted.address)
        if held is None:
            return passed(expected, words("it has not", "没有"), node)
        seen = words("it has it, on {device}", "有，在 {device} 上", device=held[0])
        return failed(expected, seen, f"{node}:{held[0]}", next_step=_look(node))

    return on_each(view, wanted.node, expected_of, judge)


def _look(node: str) -> Words:
    return words("on {node}: ip addr show", "在 {node} 上：ip addr show", node=node)
