"""What a walk says, in each language it says it in: templates only, filled in by `lvslab.walk.words`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lvslab.walk.model import AMBIGUOUS, NOT_SEEN_TO_LEAVE


class Language(StrEnum):
    """By the codes of ISO 639-1."""

    ENGLISH = "en"
    CHINESE = "zh"


@dataclass(frozen=True, slots=True)
class Phrases:
    """One language. Names in braces are filled in; `words` translates single terms and defaults to the term."""

    role: str
    no_walks: str
    all_matched: str
    mac_rewritten: str
    outer_added: str
    outer_removed: str
    outer_rewritten: str
    end_rewritten: str
    wrong_checksum: str
    rewritten: str
    payload_rewritten: str
    changed: str
    unchanged: str
    passed_to: str
    at_node: str
    between_clauses: str
    crossed: str
    comma: str
    list_comma: str
    last_comma: str
    size: str
    fragment_at: str
    fragment: str
    fragments: str
    fragmented: str
    joined: str
    fragmentation_needed: str
    too_big: str
    icmp_type: str
    ip_protocol: str
    no_flags: str
    who_has: str
    is_at: str
    heard_at: str
    lost: str
    overheard: str
    frame: str
    not_back: str
    no_reply: str
    no_arp: str
    candidates: str
    words: Mapping[str, str] = field(default_factory=dict)

    def word(self, term: str) -> str:
        return self.words.get(term, term)


_ENGLISH = Phrases(
    role="{role}: {title}",
    no_walks="no walks",
    all_matched="every frame belongs to a walk",
    mac_rewritten="{field} rewritten to {mac}",
    outer_added="outer header added ({new})",
    outer_removed="outer header removed ({old})",
    outer_rewritten="outer header rewritten {old} → {new}",
    end_rewritten="{field} {part} rewritten {old} → {new}",
    wrong_checksum="wrong checksum: {new}",
    rewritten="{field} rewritten",
    payload_rewritten="payload rewritten ({old} → {new})",
    changed="{field} {old} → {new}",
    unchanged="{kept} unchanged",
    passed_to="passed to {interface}",
    at_node="{node}: {clauses}",
    between_clauses="; ",
    crossed="{sender} → {receiver}: received as sent",
    comma=", ",
    list_comma=", ",
    last_comma=" and ",
    size="{count} bytes",
    fragment_at="fragment at byte {offset}",
    fragment="{first}–{last} in frame {number}",
    fragments="{count} fragments (id {id}: {pieces})",
    fragmented="sent in {new}",
    joined="put together from {old}",
    fragmentation_needed="ICMP fragmentation needed, MTU {mtu}",
    too_big="ICMPv6 packet too big, MTU {mtu}",
    icmp_type="type {number}",
    ip_protocol="IP protocol {number}",
    no_flags="without flags",
    who_has="ARP who has {wanted}, tell {asker}",
    is_at="ARP {address} is at {mac}",
    heard_at="received by {places}",
    lost="not seen again after it left {place}",
    overheard="overheard at {places}",
    frame="{where} (frame {number})",
    not_back="never got back to {node}: last seen at {place}",
    no_reply="No reply was seen.",
    no_arp="No ARP about {address} was seen.",
    candidates="{reason} (frames {numbers})",
)

_CHINESE = Phrases(
    role="{role}：{title}",
    no_walks="没有可显示的路径",
    all_matched="每一帧都已归入某条路径",
    mac_rewritten="{field} 改写为 {mac}",
    outer_added="加上外层首部（{new}）",
    outer_removed="去掉外层首部（{old}）",
    outer_rewritten="外层首部改写 {old} → {new}",
    end_rewritten="{field}{part}改写 {old} → {new}",
    wrong_checksum="校验和错误：{new}",
    rewritten="{field}被改写",
    payload_rewritten="载荷被改写（{old} → {new}）",
    changed="{field} {old} → {new}",
    unchanged="{kept}不变",
    passed_to="交给 {interface}",
    at_node="{node}：{clauses}",
    between_clauses="；",
    crossed="{sender} → {receiver}：原样收到",
    comma="，",
    list_comma="、",
    last_comma="、",
    size="{count} 字节",
    fragment_at="分片，偏移 {offset} 字节",
    fragment="第 {number} 帧含 {first}–{last}",
    fragments="{count} 个分片（标识 {id}：{pieces}）",
    fragmented="分片发出：{new}",
    joined="由分片重组：{old}",
    fragmentation_needed="ICMP 需要分片，MTU {mtu}",
    too_big="ICMPv6 报文过大，MTU {mtu}",
    icmp_type="类型 {number}",
    ip_protocol="IP 协议 {number}",
    no_flags="无标志位",
    who_has="ARP 询问：谁有 {wanted}？请告诉 {asker}",
    is_at="ARP 应答：{address} 在 {mac}",
    heard_at="收到者：{places}",
    lost="离开 {place} 之后再未出现",
    overheard="旁听到：{places}",
    frame="{where}（第 {number} 帧）",
    not_back="未能回到 {node}：最后出现在 {place}",
    no_reply="没有看到应答。",
    no_arp="没有看到关于 {address} 的 ARP。",
    candidates="{reason}（第 {numbers} 帧）",
    words={
        "Request": "请求",
        "Reply": "应答",
        "Error": "差错",
        "Packet": "数据包",
        "Unmatched": "未能归入",
        "ms": "毫秒",
        "frame": "帧",
        "where": "位置",
        "in": "入",
        "out": "出",
        "broadcast": "广播",
        "destination MAC": "目的 MAC",
        "source MAC": "源 MAC",
        "outer header": "外层首部",
        "outer TTL": "外层 TTL",
        "inner TTL": "内层 TTL",
        "source": "源",
        "destination": "目的",
        "address": "地址",
        "port": "端口",
        "address and port": "地址和端口",
        "TCP window": "TCP 窗口",
        "TCP options": "TCP 选项",
        "SCTP verification tag": "SCTP 验证标签",
        "SCTP chunks": "SCTP 数据块",
        "SCTP checksum": "SCTP 校验和",
        "payload": "载荷",
        "checksum": "校验和",
        "fragments": "分片",
        "IP addresses": "IP 地址",
        "ports": "端口",
        "inner packet": "内层数据包",
        "echo reply": "回显应答",
        "echo request": "回显请求",
        "destination unreachable": "目的不可达",
        "redirect": "重定向",
        "time exceeded": "超时",
        "packet too big": "数据包过大",
        "router solicitation": "路由器请求",
        "router advertisement": "路由器通告",
        "neighbour solicitation": "邻居请求",
        "neighbour advertisement": "邻居通告",
        NOT_SEEN_TO_LEAVE: "收到了，但没有看到任何节点发出它",
        AMBIGUOUS: "可能是多个数据包的后续：内容相同，且都还在途中",
    },
)

_PHRASES = {Language.ENGLISH: _ENGLISH, Language.CHINESE: _CHINESE}


def phrases(language: Language) -> Phrases:
    """Return what to say in a language."""
    return _PHRASES[language]
