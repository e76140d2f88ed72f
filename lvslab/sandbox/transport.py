"""Netlink through the agent: messages to a namespace, replies back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lvslab.ipvs.exchange import Reply
from lvslab.kernels.channel import Channel

NETLINK_ROUTE = 0
NETLINK_GENERIC = 16
PACK_BYTES = 1 << 13
"""Of messages that go together: well below what a socket may hold (net.core.wmem_default)."""
REQUEST_BYTES = 1 << 13
"""Of messages for any namespaces after which the agent is given them: it works while the host makes more."""
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
        sent = [self._send_packs(packs) for packs in _wagons(messages)]
        errnos: list[int] = []
        for number in sent:
            answer = self._channel.wait(number, CHANGE)
            if not (errnos and errnos[-1]):
                errnos += answer.fields["errnos"]
        return errnos

    def _send_packs(self, packs: Sequence[tuple[str, Sequence[bytes]]]) -> int:
        blobs = [message for _, pack in packs for message in pack]
        counts = [len(pack) for _, pack in packs]
        return self._channel.send(CHANGE, blobs, namespaces=[name for name, _ in packs], counts=counts)

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


Pack = tuple[str, list[bytes]]
"""Messages that go to one namespace as one datagram."""


def _wagons(messages: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[list[Pack]]:
    """Yield packs in order, as many at a time as go as one request."""
    wagon: list[Pack] = []
    size = 0
    for name, of_name in messages:
        for pack in _packs(of_name):
            wagon.append((name, pack))
            size += sum(map(len, pack))
            if size >= REQUEST_BYTES:
                yield wagon
                wagon, size = [], 0
    if wagon:
        yield wagon


def _packs(messages: Iterable[bytes]) -> Iterator[list[bytes]]:
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
