"""What servers say in ARP when they have to ask: their neighbour entries are forgotten first, so that they must."""

from __future__ import annotations

from collections.abc import Sequence

from lvslab.labs.checks.nodes import nodes_of
from lvslab.labs.finding import Finding, failed, judged
from lvslab.labs.node_names import NodeName, NodePattern
from lvslab.labs.registry import Observed, check, observation
from lvslab.labs.view import View
from lvslab.labs.words import frame_at, same, words
from lvslab.topology.document import Entry
from lvslab.verify.arp import ArpSpeech, arp_speeches


class Asking(Entry):
    """Servers that must ask for the router's MAC before they can answer a client."""

    node: NodePattern


def speeches(view: View) -> Sequence[ArpSpeech]:
    """Return what is said in ARP when the standard traffic finds no server that knows a neighbour's MAC."""
    for node in nodes_of(view, "rs*"):
        view.run(node, "ip", "neigh", "flush", "dev", "eth0")
    return arp_speeches(view.examination.evidence)


def questions(view: View, pattern: str) -> Sequence[ArpSpeech]:
    """Return the ARP requests that these servers sent; whoever serves must send one."""
    nodes = nodes_of(view, pattern)
    return [speech for speech in speeches(view) if speech.node in nodes and not speech.is_answer]


@observation("asks-as", Asking)
def asks_as(view: View, wanted: Asking) -> Observed | None:
    for first in questions(view, wanted.node):
        where = frame_at(first.number, first.where)
        return Observed(first.sender_ip, where, first.where, (first.number,))
    return None


@check("asks-as-itself", Asking)
def asks_as_itself(view: View, wanted: Asking) -> Finding:
    expected = words("whoever asks by ARP asks as itself", "发出 ARP 请求时都以自己的地址为发送者")
    asked = questions(view, wanted.node)
    if not asked:
        return failed(expected, words("no server asked anything", "没有服务器发出请求"), wanted.node)
    stranger = next((speech for speech in asked if view.owner_of_address(speech.sender_ip) != speech.node), None)
    first = stranger or asked[0]
    seen = words("{node} asked as {sender}", "{node} 以 {sender} 的名义询问", node=first.node, sender=first.sender_ip)
    return judged(stranger is None, expected, seen, first.where)


class OnSilentDevice(Entry):
    """`node` holds `address` on a device that does not speak ARP, and nowhere else."""

    node: NodeName
    address: str


@check("on-silent-device", OnSilentDevice)
def on_silent_device(view: View, wanted: OnSilentDevice) -> Finding:
    expected = words(
        "{address} is on a device of {node} that says NOARP",
        "{node} 上的 {address} 配在标有 NOARP 的设备上",
        address=wanted.address,
        node=wanted.node,
    )
    held = view.run(wanted.node, "ip", "-o", "addr", "show", "to", wanted.address).output
    devices = [line.split()[1] for line in held.splitlines()]
    flags = [view.run(wanted.node, "ip", "-br", "link", "show", device).output for device in devices]
    seen = words("it is on {devices}", "现在在 {devices} 上", devices=", ".join(devices)) if devices else _NOWHERE
    silent = bool(flags) and all("NOARP" in each for each in flags)
    return judged(silent, expected, seen, wanted.node)


_NOWHERE = words("it is on no device", "没有配在任何设备上")


class AnswersAlone(Entry):
    """Whoever is asked for `address`, only `node` answers. What others claim when they ask does not count."""

    node: NodeName
    address: str


@check("answers-alone", AnswersAlone)
def answers_alone(view: View, wanted: AnswersAlone) -> Finding:
    expected = words(
        "only {node} answers ARP for {address}",
        "只有 {node} 为 {address} 应答 ARP",
        node=wanted.node,
        address=wanted.address,
    )
    answers = [speech for speech in speeches(view) if speech.is_answer and speech.sender_ip == wanted.address]
    owners = dict.fromkeys(speech.node for speech in answers)
    where = next((speech.where for speech in answers if speech.node != wanted.node), wanted.node)
    return judged(set(owners) == {wanted.node}, expected, same(" ".join(owners) or "-"), where)
