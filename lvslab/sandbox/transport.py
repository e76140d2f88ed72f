"""Netlink through the agent: messages to a namespace, replies back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lvslab.ipvs.exchange import Reply
from lvslab.kernels.channel import Channel

NETLINK_ROUTE = 0
NETLINK_GENERIC = 16
REQUEST_BYTES = 1 << 13
"""Of messages after which the agent is given them: it works while the host makes more.

Well below what a socket may hold (net.core.wmem_default), since all that are for one namespace may go together.
"""
CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a netlink message goes."""

    namespace: str
    protocol: int


class NetlinkTransport:
    """Sends netlink messages through a channel; also the `Exchange` that :mod:`lvslab.ipvs` asks for."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def __call__(self, namespace: str, messages: Sequence[bytes]) -> list[Reply]:
        """Send generic netlink messages to one namespace."""
        return self.send([(Target(namespace, NETLINK_GENERIC), message) for message in messages], keep_going=True)

    def change(self, messages: Iterable[tuple[str, Iterable[bytes]]]) -> list[int]:
        """Send route messages that ask for an acknowledgement alone, those of each namespace together.

        What is sent is on its way while the next messages are still being made. Return the errnos in order, up to the
        first that is not 0; of those after that one some may have been carried out.
        """
        sent = [self._send_changes(changes) for changes in _requests(messages)]
        errnos: list[int] = []
        for number in sent:
            answer = self._channel.wait(number, CHANGE)
            if not (errnos and errnos[-1]):
                errnos += answer.fields["errnos"]
        return errnos

    def _send_changes(self, changes: Sequence[tuple[str, bytes]]) -> int:
        runs = [(name, len(list(run))) for name, run in groupby(name for name, _ in changes)]
        namespaces, counts = [name for name, _ in runs], [count for _, count in runs]
        return self._channel.send(CHANGE, [message for _, message in changes], namespaces=namespaces, counts=counts)

    def send(self, requests: Sequence[tuple[Target, bytes]], *, keep_going: bool) -> list[Reply]:
        """Return one reply per message sent; without `keep_going` the first refusal is the last reply."""
        targets = [(target.namespace, target.protocol) for target, _ in requests]
        blobs = [message for _, message in requests]
        answer = self._channel.request("netlink", blobs, targets=targets, keep_going=keep_going)
        replies = []
        position = 0
        for errno, count in zip(answer.fields["errnos"], answer.fields["counts"], strict=True):
            replies.append(Reply(errno, answer.blobs[position : position + count]))
            position += count
        return replies


def _requests(messages: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[list[tuple[str, bytes]]]:
    """Yield messages in order, each with its namespace, as many at a time as go as one request."""
    request: list[tuple[str, bytes]] = []
    size = 0
    for name, of_name in messages:
        for message in of_name:
            request.append((name, message))
            size += len(message)
            if size >= REQUEST_BYTES:
                yield request
                request, size = [], 0
    if request:
        yield request
