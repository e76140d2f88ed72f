"""Results that exercise every report: all verdicts, wide text, hostile text, many frames, nothing at all."""

from __future__ import annotations

from lvslab.verify.result import Result, TopologyResult, Verdict

HOSTILE = "rs1 said \x1b[2J\x00 and \udc80 at [2001:db8::1]:80 <&\"'>"

NAT = TopologyResult(
    topology="nat",
    kernel="uml",
    kernel_release="6.1.0-31",
    backend="netns",
    expectations=(
        Result("nat-request", Verdict.PASS, "rs1:80, source kept", "as expected", "rs1:eth0", (4, 9, 12)),
        Result("scheduler", Verdict.PASS, "rr: rs2, rs1, rs2", "rs2, rs1, rs2", "director", (4, 22, 41)),
    ),
    params={"real_servers": 2, "scheduler": "rr"},
    seconds={"boot": 1.1, "build": 0.2, "traffic": 0.3, "judge": 0.06},
    frames=412,
)
DR = TopologyResult(
    topology="dr",
    kernel="uml",
    kernel_release="6.1.0-31",
    backend="netns",
    expectations=(
        Result(
            "dr-request", Verdict.PASS, "only MACs, TTL and IP checksum change", "as expected", "director:eth0", (7,)
        ),
        Result(
            "arp-owner",
            Verdict.FAIL,
            "only the director answers ARP for 192.0.2.100",
            "rs1 answered who-has 192.0.2.100 with its own MAC 02:00:00:00:00:0b",
            "rs1:eth0",
            tuple(range(3, 23)),
            "arp_ignore is 0 on rs1, so it answers for the VIP on its lo",
            "remove `without: [arp_ignore]`, or run: lvslab verify dr",
        ),
        Result("sync", Verdict.SKIP, "state reaches the backup", "", cause="this topology has one director"),
    ),
    seconds={"build": 0.3},
    frames=80,
)
TUN = TopologyResult(
    topology="tun",
    kernel="uml",
    kernel_release="6.1.0-31",
    backend="netns",
    expectations=(
        Result(
            "tun-outer",
            Verdict.ERROR,
            "捕获不丢失任何帧",
            "内核丢弃了十七个帧，因此这个判断不能成立，既不能算通过也不能算失败",
            "客户端:eth0",
            cause="接口 eth0 的环形缓冲区太小",
            next="再运行一次: lvslab verify tun",
        ),
    ),
)
UNDECIDED = TopologyResult(
    "rr-dns", "native", "6.12.1", "netns", (Result("dns", Verdict.SKIP, "", "", cause="no ip_vs"),)
)
HOSTILE_RESULT = TopologyResult(
    HOSTILE,
    "uml",
    HOSTILE,
    "netns",
    (Result(HOSTILE, Verdict.FAIL, HOSTILE, HOSTILE, HOSTILE, (1,), HOSTILE, HOSTILE),),
)
EMPTY = TopologyResult("empty", "uml", "6.1.0", "netns", ())

ALL = (NAT, DR, TUN, UNDECIDED)
EVERY_SHAPE = (*ALL, HOSTILE_RESULT, EMPTY)
