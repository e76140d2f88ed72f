"""What `lvslab verify` says, in the student's language: sentences by template, and as they are where none fits.

The English templates are those of `lvslab.verify.expectations`; a test compares them with what is said there.
"""

from __future__ import annotations

import re
from functools import cache

from lvslab.labs.words import Words

_TEMPLATES = {
    # what is expected
    "every call to {vip} is answered by a real server": "对 {vip} 的每次访问都由真实服务器应答",
    "only {director} answers ARP for {vip}, or sends ARP as {sender}": (
        "只有 {director} 为 {vip} 应答 ARP 或以它的名义发送 ARP"
    ),
    "{askers} never asks by ARP for {vip}: the entry was made by hand": (
        "{askers} 从不为 {vip} 发出 ARP 请求：表项是手工写的"
    ),
    "{director} rewrites the MACs and takes one off the TTL; addresses, ports and payload stay": (
        "{director} 改写 MAC，TTL 减一；地址、端口和载荷不变"
    ),
    "servers answer the client as {vip}; no reply touches {director}": (
        "真实服务器以 {vip} 的名义应答客户端；应答不经过 {director}"
    ),
    "{director} rewrites the destination to a server's address and port; the client's stay": (
        "{director} 把目的改写为真实服务器的地址和端口；客户端的地址和端口不变"
    ),
    "replies pass {director}, which rewrites their source to {vip}": "应答经过 {director}，由它把源改写为 {vip}",
    "{director} adds one outer header to a server's address; inside, only the TTL falls by one": (
        "{director} 加上一个发往真实服务器的外层首部；内层只有 TTL 减一"
    ),
    "each server unwraps the packet: the inner one comes out of its tunnel device unchanged": (
        "每台真实服务器拆开数据包：内层数据包从隧道设备中出来，没有变化"
    ),
    # what was seen
    "{failed} of {calls} call{s} failed; the first: {label}: {how}": (
        "{calls} 次访问中有 {failed} 次失败；第一次：{label}：{how}"
    ),
    "{calls} call{s}, all answered": "{calls} 次访问，全部得到应答",
    "nobody answered ARP for {vip} while this was recorded, and nobody claimed it": (
        "记录期间没有人为 {vip} 应答 ARP，也没有人声称拥有它"
    ),
    "{node} answered for {vip}, with the MAC {mac}": "{node} 为 {vip} 作了应答，MAC 为 {mac}",
    "{node} asked as {vip}, with the MAC {mac}": "{node} 以 {vip} 的名义询问，MAC 为 {mac}",
    "{asker} asked who has {vip}": "{asker} 询问了谁有 {vip}",
    "{call}: {director} took it in and sent nothing on": "{call}：{director} 收下了它，没有再发出任何数据包",
    "{call}: it reached {node} without passing {director}": "{call}：它没有经过 {director} 就到了 {node}",
    "{call}: it never reached {director}; it was last seen at {node}": (
        "{call}：它没有到达 {director}；最后出现在 {node}"
    ),
    "{call}: {director} sent it on, but no real server received it; it was last seen at {node}": (
        "{call}：{director} 把它发了出去，但没有真实服务器收到；最后出现在 {node}"
    ),
    "{call}: {director} sent it on, but no real server received it": (
        "{call}：{director} 把它发了出去，但没有真实服务器收到"
    ),
    "{call}: {node} received it and never answered": "{call}：{node} 收到了它，却没有应答",
    "{call}: the reply of {node} came to {director}": "{call}：{node} 的应答到了 {director}",
    "{call}: the reply of {node} did not come to {client}; it was last seen at {where}": (
        "{call}：{node} 的应答没有到达 {client}；最后出现在 {where}"
    ),
    "{call}: {node} answered as {source}": "{call}：{node} 以 {source} 的名义应答",
}
_HOLE = re.compile(r"\{(\w+)\}")


def in_both_languages(text: str) -> Words:
    """Return a sentence of `lvslab verify` with its translation, or the same in both where there is none."""
    for pattern, chinese in _patterns():
        match = pattern.fullmatch(text)
        if match is not None:
            return Words(text, chinese.format_map(match.groupdict()))
    return Words(text, text)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((_pattern(english), chinese) for english, chinese in _TEMPLATES.items())


def _pattern(template: str) -> re.Pattern[str]:
    pieces = _HOLE.split(template)
    holes = (rf"(?P<{name}>{'s?' if name == 's' else '.+?'})" for name in pieces[1::2])
    return re.compile("".join(re.escape(text) + hole for text, hole in zip(pieces[::2], [*holes, ""], strict=True)))
