"""What a client gets out of a service with many connections at once."""

from __future__ import annotations

from lvslab.labs.finding import Finding, judged
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import words
from lvslab.topology.document import Connections, Entry


class Throughput(Entry):
    """The first client gets `least` to `most` kbit/s over so many connections."""

    vip: str | None = None
    connections: Connections
    least: Connections
    most: Connections | None = None


@check("throughput", Throughput)
def throughput(view: View, wanted: Throughput) -> Finding:
    load = view.load(wanted.vip, wanted.connections)
    got = round(load.bit_s / 1000)
    most = "" if wanted.most is None else f"–{wanted.most}"
    expected = words(
        "{client} gets {least}{most} kbit/s over {n} connections",
        "{client} 经 {n} 个连接得到 {least}{most} kbit/s",
        client=view.client,
        least=wanted.least if most else f"≥ {wanted.least}",
        most=most,
        n=wanted.connections,
    )
    servers = sum(share.bytes > 0 for share in load.shares)
    seen = words("{got} kbit/s, from {m} servers", "{got} kbit/s，来自 {m} 台服务器", got=got, m=servers)
    return judged(wanted.least <= got and (wanted.most is None or got <= wanted.most), expected, seen, view.client)
