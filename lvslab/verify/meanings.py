"""What each expectation says, in one line of each language, for those who do not know its name."""

from __future__ import annotations

from typing import Final

from lvslab.walk.phrases import Language

MEANINGS: Final[dict[str, dict[Language, str]]] = {
    name: {Language.ENGLISH: english, Language.CHINESE: chinese}
    for name, english, chinese in (
        (
            "arp-owner",
            "Only the director answers ARP for the virtual IP.",
            "只有调度器应答对虚拟 IP 的 ARP 询问。",
        ),
        (
            "nat-request",
            "The director rewrites the destination of requests to a real server.",
            "调度器把请求的目的地址改写为真实服务器。",
        ),
        (
            "nat-reply",
            "Replies go back through the director, which rewrites their source to the virtual IP.",
            "应答经调度器返回，源地址被改写为虚拟 IP。",
        ),
        (
            "tun-request",
            "The director puts an outer header around requests and leaves the packet inside as it is.",
            "调度器给请求加上外层首部，内层数据包保持不变。",
        ),
        (
            "tun-decapsulated",
            "The real server takes the outer header off and finds the packet for the virtual IP inside.",
            "真实服务器去掉外层首部，取出发往虚拟 IP 的内层数据包。",
        ),
        (
            "dr-request",
            "The director rewrites only the MAC addresses of requests: no address, port or payload changes.",
            "调度器只改写请求的 MAC 地址，IP 地址、端口和载荷都不变。",
        ),
        (
            "direct-reply",
            "Replies go straight from the real server to the client, past the director.",
            "应答由真实服务器直接发给客户端，不经过调度器。",
        ),
        (
            "local-delivery",
            "The director answers its own share of the connections itself.",
            "调度器自己应答分给自己的那部分连接。",
        ),
        (
            "director-client",
            "The director reaches a real server through its own virtual IP.",
            "调度器自己作为客户端，经虚拟 IP 访问真实服务器。",
        ),
        (
            "answered",
            "A real server answers every call to the virtual service.",
            "对虚拟服务的每次访问都由一台真实服务器应答。",
        ),
        (
            "scheduler",
            "Each connection gets the server that the scheduler's reference model predicts.",
            "每个连接都交给调度算法参考模型所预测的服务器。",
        ),
        (
            "statistics",
            "The director's counters agree with what was captured.",
            "调度器的计数器与捕获的内容一致。",
        ),
        (
            "persistence",
            "Connections of one client go to one real server.",
            "同一客户端的连接都交给同一台真实服务器。",
        ),
        (
            "datagrams",
            "Datagrams go where the service's kind sends them: together, or each by itself.",
            "数据报按服务的类型转发：同源的一起，或各自调度。",
        ),
        (
            "association",
            "SCTP servers offer the client no address beside the virtual IP.",
            "SCTP 服务器不向客户端提供虚拟 IP 以外的地址。",
        ),
        (
            "path-mtu",
            "What is too large for a link is told to its sender, comes in pieces, or is never sent.",
            "超过链路 MTU 的数据包会通知发送方、被分片，或根本不会发出。",
        ),
        (
            "ftp",
            "Files come over passive and active data connections of the virtual IP.",
            "经虚拟 IP 的被动和主动数据连接都能取到文件。",
        ),
        (
            "dns-rotation",
            "The name server turns the order of its addresses by one with each answer.",
            "域名服务器每应答一次，地址的次序就轮转一位。",
        ),
        (
            "dns-direct",
            "Each client connects straight to the first address it was given.",
            "每个客户端直接连接所得到的第一个地址。",
        ),
        (
            "dns-cache",
            "While a cached answer lives, all clients of the resolver get the same server.",
            "缓存的应答有效期内，解析器的所有客户端都得到同一台服务器。",
        ),
        (
            "checksums",
            "Every IP, TCP, UDP and ICMP checksum is right at every interface.",
            "每个接口上的 IP、TCP、UDP 和 ICMP 校验和都正确。",
        ),
        (
            "capture-complete",
            "No frame was lost while recording.",
            "记录时没有丢失任何帧。",
        ),
    )
}


def meaning(name: str, language: Language) -> str:
    """Return the line for an expectation; its name may have a service's behind it. Empty for an unknown one."""
    return MEANINGS.get(name.split(" ", 1)[0], {}).get(language, "")
