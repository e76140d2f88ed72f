"""Netlink through the agent: messages to a namespace, replies back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lvslab.ipvs.exchange import Reply
from lvslab.kernels.channel import Channel

NETLINK_ROUTE = 0
NETLINK_GENERIC = 16


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
