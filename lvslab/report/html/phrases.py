"""The page's own words, in each language; what a walk says of hops comes from `lvslab.walk.phrases`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lvslab.report.graph.phrases import graph_phrases
from lvslab.verify.result import Verdict
from lvslab.walk.phrases import Language, phrases


@dataclass(frozen=True, slots=True)
class PagePhrases:
    """One language. Names in braces are filled in; `words` are fields of headers and names of roles."""

    tag: str
    """The language, as BCP 47 has it."""
    skip_to_packets: str
    verdicts: str
    predictions: str
    scheduler_model: str
    packets: str
    of_topology: str
    kernel: str
    frames: str
    parameters: str
    topology_title: str
    verified: str
    made_by: str
    expected: str
    seen: str
    where: str
    cause: str
    next: str
    evidence: str
    question: str
    predicted: str
    observed: str
    agrees: str
    differs: str
    open: str
    as_predicted: str
    not_predicted: str
    nobody: str
    scheduler_question: str
    connection: str
    all_connections: str
    packet: str
    first: str
    previous: str
    following: str
    last: str
    play: str
    pause: str
    keys: str
    place: str
    drawing_label: str
    table_label: str
    current_hop: str
    frame: str
    absent: str
    changed: str
    added: str
    removed: str
    all_fields: str
    raw_bytes: str
    same_bytes: str
    cut_bytes: str
    legend: str
    signs: str
    left_out: str
    left_out_kind: str
    see_left_out: str
    no_packets: str
    bytes: str
    connection_title: str
    other_title: str
    unmatched_title: str
    unmatched_explained: str
    no_topology: str
    list_comma: str
    verdict_words: Mapping[Verdict, str]
    words: Mapping[str, str] = field(default_factory=dict)
    language: Language = Language.ENGLISH

    def word(self, term: str) -> str:
        """Return a term in this language: the page's, else the walks', else as it is."""
        return self.words.get(term) or phrases(self.language).word(term)


_ENGLISH = PagePhrases(
    tag="en",
    skip_to_packets="Skip to the packets",
    verdicts="Verdicts",
    predictions="Predicted and observed",
    scheduler_model="Scheduler: model and kernel",
    packets="Packets, hop by hop",
    of_topology="{what}: {topology}",
    kernel="Kernel",
    frames="Frames captured",
    parameters="Parameters",
    topology_title="{title} ({name})",
    verified="{count} topologies judged",
    made_by="Made by lvslab {version}.",
    expected="expected",
    seen="seen",
    where="where",
    cause="cause",
    next="next",
    evidence="frames",
    question="Question",
    predicted="Predicted",
    observed="Observed",
    agrees="as predicted",
    differs="not as predicted",
    open="not judged",
    as_predicted="{count} of {total} as predicted",
    not_predicted="Not predicted:",
    nobody="nobody",
    scheduler_question="{scheduler}: which server gets {connection}?",
    connection="Connection",
    all_connections="All of them",
    packet="Packet",
    first="First hop",
    previous="Previous hop",
    following="Next hop",
    last="Last hop",
    play="Play",
    pause="Pause",
    keys="Keys: ← → a hop back or on, Shift ← → a packet back or on.",
    place="Hop {number} of {total}",
    drawing_label="Drawing of the topology, with the packet where this hop saw it",
    table_label="Hops of {title}: a column for each node, a row for each hop",
    current_hop="This hop",
    frame="Frame",
    absent="Not on the way: {nodes}.",
    changed="changed",
    added="added",
    removed="removed",
    all_fields="All fields and bytes",
    raw_bytes="Frame {number} of the capture, {count} bytes",
    same_bytes="The same bytes as in frame {number}.",
    cut_bytes="Only the first {shown} bytes are shown.",
    legend="Addresses",
    signs="✱ marks a field that changed since the hop before (old → new), ＋ a header that was put on, "
    "－ one that was taken off.",
    left_out="Left out, so that about {most} hops at most stand here: {what}.",
    left_out_kind="{count} × {kind}",
    see_left_out="The capture has them all: keep it with --pcap and see any one with "
    "lvslab walk --from FILE --connection N.",
    no_packets="The capture shows no packet that could be followed.",
    bytes="{count} bytes",
    connection_title="Connection {number}: {initiator} → {responder}",
    other_title="{kind}: {initiator} → {responder}",
    unmatched_title="Not joined to any packet",
    unmatched_explained="What was seen of these frames is certain; where they came from is not.",
    no_topology="The capture does not say which topology it is of, so there is no drawing.",
    list_comma=", ",
    verdict_words={
        Verdict.PASS: "passed",
        Verdict.FAIL: "failed",
        Verdict.SKIP: "skipped",
        Verdict.ERROR: "error",
    },
    words={
        "nothing": "none",
        "arp": "ARP",
        "nd": "Neighbour discovery",
        "icmp": "ICMP",
        "other": "Other",
        "tcp": "TCP",
        "udp": "UDP",
        "sctp": "SCTP",
        "unmatched": "not joined to any packet",
    },
)

_CHINESE = PagePhrases(
    tag="zh-Hans",
    skip_to_packets="跳到数据包",
    verdicts="判定",
    predictions="预测与观察",
    scheduler_model="调度算法：模型与内核",
    packets="逐跳看数据包",
    of_topology="{what}：{topology}",
    kernel="内核",
    frames="捕获的帧数",
    parameters="参数",
    topology_title="{title}（{name}）",
    verified="{count} 个拓扑的判定",
    made_by="由 lvslab {version} 生成。",
    expected="预期",
    seen="所见",
    where="位置",
    cause="原因",
    next="下一步",
    evidence="帧",
    question="问题",
    predicted="预测",
    observed="观察到",
    agrees="与预测相符",
    differs="与预测不符",
    open="未判定",
    as_predicted="{total} 项中有 {count} 项与预测相符",
    not_predicted="未作预测：",
    nobody="无",
    scheduler_question="{scheduler}：{connection} 会交给哪台服务器？",
    connection="连接",
    all_connections="全部",
    packet="数据包",
    first="第一跳",
    previous="上一跳",
    following="下一跳",
    last="最后一跳",
    play="播放",
    pause="暂停",
    keys="按键：← → 后退或前进一跳，Shift 加 ← → 上一个或下一个数据包。",
    place="第 {number} 跳，共 {total} 跳",
    drawing_label="拓扑图，数据包位于本跳所见之处",
    table_label="{title} 的各跳：每列一个节点，每行一跳",
    current_hop="本跳",
    frame="帧",
    absent="未经过：{nodes}。",
    changed="已改变",
    added="新加",
    removed="已去掉",
    all_fields="全部字段与原始字节",
    raw_bytes="捕获文件中的第 {number} 帧，{count} 字节",
    same_bytes="与第 {number} 帧的字节相同。",
    cut_bytes="只显示前 {shown} 字节。",
    legend="地址",
    signs="✱ 表示与上一跳相比改变了的字段（旧 → 新），＋ 表示加上的首部，－ 表示去掉的首部。",
    left_out="此处最多约 {most} 跳，未列出：{what}。",
    left_out_kind="{kind} × {count}",
    see_left_out="捕获文件中全都有：用 --pcap 保存，再用 lvslab walk --from FILE --connection N 查看任意一个。",
    no_packets="捕获中没有可以跟踪的数据包。",
    bytes="{count} 字节",
    connection_title="连接 {number}：{initiator} → {responder}",
    other_title="{kind}：{initiator} → {responder}",
    unmatched_title="未能归入任何数据包",
    unmatched_explained="这些帧确实被看到，但无法确定它们从何而来。",
    no_topology="捕获文件没有说明属于哪个拓扑，因此没有拓扑图。",
    list_comma="，",
    verdict_words={
        Verdict.PASS: "通过",
        Verdict.FAIL: "未通过",
        Verdict.SKIP: "跳过",
        Verdict.ERROR: "出错",
    },
    words={
        **graph_phrases(Language.CHINESE).roles,
        "type": "类型",
        "operation": "操作",
        "sender": "发送方",
        "target": "目标",
        "flags": "标志位",
        "source port": "源端口",
        "destination port": "目的端口",
        "sequence number": "序号",
        "acknowledgment": "确认号",
        "identification": "标识",
        "fragment": "分片",
        "do not fragment": "不分片",
        "more fragments": "还有分片",
        "total length": "总长度",
        "protocol": "协议",
        "hop limit": "跳数限制",
        "code": "代码",
        "sctp": "SCTP",
        "size": "长度",
        "text": "文本",
        "wrong": "错误",
        "right": "正确",
        "outer": "外层",
        "nothing": "无",
        "arp": "ARP",
        "nd": "邻居发现",
        "icmp": "ICMP",
        "other": "其他",
        "tcp": "TCP",
        "unmatched": "未能归入数据包的帧",
    },
    language=Language.CHINESE,
)

_PHRASES = {Language.ENGLISH: _ENGLISH, Language.CHINESE: _CHINESE}


def page_phrases(language: Language) -> PagePhrases:
    return _PHRASES[language]
