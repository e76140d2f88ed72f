"""Netlink through the agent: messages to a namespace, replies back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lvslab.ipvs.exchange import Reply
from lvslab.kernels.channel import Channel

NETLINK_ROUTE = 0
NETLINK_GENERIC = 16
PACK_BYTES = 1 << 15
"""Of messages that go together: well below what a socket may hold (net.core.wmem_default)."""


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

    def change(self, messages: Mapping[str, Sequence[bytes]]) -> list[int]:
        """Send route messages that ask for an acknowledgement alone, those of each namespace together.

        Return their errnos in order, up to the first that is not 0; those sent along with that one may have been
        carried out.
        """
        packs = [(name, pack) for name, of_name in messages.items() for pack in _packs(of_name)]
        blobs = [message for _, pack in packs for message in pack]
        counts = [len(pack) for _, pack in packs]
        answer = self._channel.request("change", blobs, namespaces=[name for name, _ in packs], counts=counts)
        return list(answer.fields["errnos"])

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


def _packs(messages: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Yield the messages in order, as many together as may go together."""
    pack: list[bytes] = []
    size = 0
    for message in messages:
        if pack and size + len(message) > PACK_BYTES:
            yield pack
            pack, size = [], 0
        pack.append(message)
        size += len(message)
    if pack:
        yield pack
