"""Requests larger than a packet: whether they get through."""

from __future__ import annotations

from pydantic import Field

from lvslab.labs.finding import Finding, failed, judged
from lvslab.labs.large_request import CURL_TIMED_OUT, send_large_request
from lvslab.labs.node_names import NodeName
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import Words, same, words
from lvslab.topology.document import Connections, Entry


class LargeRequest(Entry):
    """Requests of so many bytes are answered; with `answered: false` they are sent and nothing comes back."""

    client: NodeName | None = None
    size_bytes: int = Field(default=4000, ge=1, le=60000)
    answered: bool = True
    times: Connections = 2


@check("large-request", LargeRequest)
def large_request(view: View, wanted: LargeRequest) -> Finding:
    client = wanted.client or view.client
    en, zh = "a request of {size} bytes from {client} is answered", "{client} 发出的 {size} 字节的请求得到回答"
    if not wanted.answered:
        en, zh = "a request of {size} bytes from {client} gets no answer", "{client} 发出的 {size} 字节的请求没有回答"
    expected = words(en, zh, size=wanted.size_bytes, client=client)
    for _ in range(wanted.times):
        ended = send_large_request(view, wanted.client, wanted.size_bytes)
        seen = _told(ended.status, ended.output)
        if ended.status != (0 if wanted.answered else CURL_TIMED_OUT):
            return failed(
                expected, seen, client, next_step=words("tcpdump shows where it ends", "用 tcpdump 看它停在哪里")
            )
    return judged(True, expected, seen, client)


def _told(status: int, output: str) -> Words:
    if status == 0:
        return words("{server} answered", "{server} 回答了", server=output.partition("\n")[0])
    if status == CURL_TIMED_OUT:
        return words("no answer (curl: {status}, timed out)", "没有回答（curl：{status}，超时）", status=status)
    return same(f"curl: {status}")
