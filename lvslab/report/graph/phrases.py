"""What a drawing says, in each language: templates only, filled in where facts, cards and notes are made.

Names of settings, methods and schedulers are those of topology files, the same in every language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lvslab.topology.model import Role

ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class GraphPhrases:
    """One language. Names in braces are filled in; `roles` translates a role and defaults to the role's words."""

    code: str
    """ISO 639-1."""
    comma: str
    semicolon: str
    between_names: str
    stack: str
    more: str
    each_member: str
    see_above: str
    served_with: str
    default_via: str
    default_route: str
    """Written in the file, beside the implied one."""
    route: str
    removed: str
    by_hand: str
    service: str
    method: str
    scheduler: str
    persistent: str
    persistent_by: str
    source_nat: str
    one_packet: str
    mark: str
    to: str
    weight: str
    port: str
    tunnel: str
    at_most: str
    again_below: str
    name: str
    name_server: str
    resolver: str
    ttl: str
    records: str
    network: str
    no_nodes: str
    note: str
    without: str
    joint: str
    """Between sentences."""
    roles: Mapping[str, str] = field(default_factory=dict)

    def role(self, role: Role) -> str:
        words = role_words(role)
        return self.roles.get(words, words)


def role_words(role: Role) -> str:
    """Return a role in English words."""
    return role.replace("-", " ")


_ENGLISH = GraphPhrases(
    code=ENGLISH,
    comma=", ",
    semicolon="; ",
    between_names=", ",
    stack="{count} {role}s",
    more="{count} more",
    each_member="each of them:",
    see_above="{name}, see above",
    served_with="serves with {server}",
    default_via="default via {via}",
    default_route="route default via {via}",
    route="route {to} via {via}",
    removed="implied setting taken away",
    by_hand="set by hand, beyond what is implied",
    service="{protocol} {address} on {node}",
    method="method {method}",
    scheduler="scheduler {scheduler}",
    persistent="persistent for {seconds} s",
    persistent_by="persistent for {seconds} s by /{prefix}",
    source_nat="source NAT",
    one_packet="each datagram by itself",
    mark="firewall mark {mark}",
    to="to {destinations}",
    weight="weight {weight}",
    port="port {port}",
    tunnel="tunnel {tunnel}",
    at_most="at most {count} connections",
    again_below="again below {count}",
    name="{name} port {port}",
    name_server="name server {node}",
    resolver="resolver {node}",
    ttl="TTL {seconds} s",
    records="records {records}",
    network="Network {name}: {nodes}.",
    no_nodes="no nodes",
    note="{heading}: {lines}.",
    without="Without {setting}: {nodes}.",
    joint=" ",
)

_CHINESE = GraphPhrases(
    code="zh",
    comma="，",
    semicolon="；",
    between_names="、",
    stack="{count} 台{role}",
    more="另有 {count} 台",
    each_member="每台都有：",
    see_above="{name}，见上文",
    served_with="由 {server} 提供服务",
    default_via="默认路由经 {via}",
    default_route="默认路由经 {via}",
    route="到 {to} 的路由经 {via}",
    removed="去掉了角色本应带来的设置",
    by_hand="另外手工加上的设置",
    service="{node} 上的 {protocol} {address}",
    method="转发方式 {method}",
    scheduler="调度算法 {scheduler}",
    persistent="持久 {seconds} 秒",
    persistent_by="持久 {seconds} 秒（按 /{prefix}）",
    source_nat="源地址也改写",
    one_packet="逐个数据报调度",
    mark="防火墙标记 {mark}",
    to="交给 {destinations}",
    weight="权值 {weight}",
    port="端口 {port}",
    tunnel="隧道 {tunnel}",
    at_most="最多 {count} 个连接",
    again_below="降到 {count} 个以下时恢复",
    name="{name} 端口 {port}",
    name_server="域名服务器 {node}",
    resolver="解析器 {node}",
    ttl="TTL {seconds} 秒",
    records="记录 {records}",
    network="网络 {name}：{nodes}。",
    no_nodes="没有节点",
    note="{heading}：{lines}。",
    without="没有 {setting}：{nodes}。",
    joint="",
    roles={
        "client": "客户端",
        "router": "路由器",
        "director": "调度器",
        "real server": "真实服务器",
        "name server": "域名服务器",
        "resolver": "解析器",
    },
)

_PHRASES = {each.code: each for each in (_ENGLISH, _CHINESE)}


def graph_phrases(language: str) -> GraphPhrases:
    """Return the phrases of a language, by its code; English where there are none."""
    return _PHRASES.get(language, _ENGLISH)
