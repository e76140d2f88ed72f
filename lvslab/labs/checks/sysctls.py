"""Kernel settings of nodes."""

from __future__ import annotations

from functools import partial
from typing import Literal

from pydantic import Field

from lvslab.labs.checks.nodes import on_each
from lvslab.labs.finding import Finding, judged
from lvslab.labs.node_names import NodePattern
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import Words, words
from lvslab.topology.document import Entry, Texts


class Sysctl(Entry):
    """The setting `key` has one of the values."""

    node: NodePattern = Field(description="a node, or several by a pattern")
    key: str
    value: Texts


@check("sysctl", Sysctl)
def sysctl(view: View, wanted: Sysctl) -> Finding:
    def judge(node: str, expected: Words) -> Finding:
        found = " ".join(view.sysctl(node, wanted.key).split())
        return _judged(found, wanted.value, expected, node, wanted.key)

    return on_each(view, wanted.node, partial(_expected, wanted.key, wanted.value), judge)


class DeviceSysctl(Entry):
    """What is in force on `device` of `net.ipv4.conf`: the kernel joins the device's value and that of `all`."""

    node: NodePattern = Field(description="a node, or several by a pattern")
    device: str = "eth0"
    setting: Literal["arp_ignore", "arp_announce", "rp_filter", "send_redirects", "accept_local"]
    value: Texts


@check("device-sysctl", DeviceSysctl)
def device_sysctl(view: View, wanted: DeviceSysctl) -> Finding:
    """For the five settings the larger value is in force, or either of two switches; `lo`'s own never matters
    (include/linux/inetdevice.h: IN_DEV_MAXCONF, IN_DEV_ORCONF).
    """

    def judge(node: str, expected: Words) -> Finding:
        keys = [f"net.ipv4.conf.{part}.{wanted.setting}" for part in ("all", wanted.device)]
        values = {key: view.sysctl(node, key).strip() for key in keys}
        wrong = next((key for key, value in values.items() if value not in wanted.value), keys[0])
        found = str(max(map(int, values.values())))
        return _judged(found, wanted.value, expected, node, wrong)

    name = f"{wanted.setting} ({wanted.device})"
    return on_each(view, wanted.node, partial(_expected, name, wanted.value), judge)


def _expected(name: str, allowed: Texts, node: str) -> Words:
    value = Words(" or ".join(allowed), " 或 ".join(allowed))
    return words("{name} is {value} on {node}", "{node} 上 {name} 为 {value}", name=name, value=value, node=node)


def _judged(found: str, allowed: Texts, expected: Words, node: str, key: str) -> Finding:
    look = words("on {node}: sysctl {key}", "在 {node} 上：sysctl {key}", node=node, key=key)
    seen = words("it is {found}", "现在是 {found}", found=found)
    return judged(found in allowed, expected, seen, node, next_step=look)
