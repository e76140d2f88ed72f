"""Carries netlink messages into a namespace and the kernel's answers back; what they mean is the host's business.

Wire format: netlink(7). Sequence numbers are filled in here, answers are matched by them. Changes that follow one
another go as one datagram, of which only the last asks to be acknowledged: the kernel carries them out in their order
and tells of refusals in any case (net/netlink/af_netlink.c: netlink_rcv_skb).
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Sequence

from lvslab.agent.namespaces import Namespaces

_HEADER = struct.Struct("=IHHII")
_ERRNO = struct.Struct("=i")
NLMSG_ERROR = 2
NLMSG_DONE = 3
NLM_F_ACK = 0x4
RECEIVE_BYTES = 1 << 18
RECEIVE_BUFFER_BYTES = 1 << 20
SOL_NETLINK = 270
NETLINK_CAP_ACK = 10
ANSWER_TIMEOUT_S = 20
_TIMEOUT = struct.Struct("@ll")
"""struct timeval."""


class NetlinkPort:
    """Netlink sockets, one per namespace and protocol, opened on first use."""

    def __init__(self, namespaces: Namespaces) -> None:
        self._namespaces = namespaces
        self._sockets: dict[tuple[str, int], socket.socket] = {}
        self._sequence = 0

    def close(self, namespace: str) -> None:
        for key in [key for key in self._sockets if key[0] == namespace]:
            self._sockets.pop(key).close()

    def change(self, namespace: str, protocol: int, messages: Sequence[bytes]) -> list[int]:
        """Send messages that ask for an acknowledgement and nothing else; return their errnos, 0 for those accepted.

        A refusal does not keep the kernel from those after it.
        """
        channel = self._socket(namespace, protocol)
        first = self._sequence + 1
        self._sequence += len(messages)
        channel.send(b"".join(_without_acknowledgement(messages[:-1], first)) + _numbered(messages[-1], self._sequence))
        errnos = [0] * len(messages)
        while True:
            for answer in _messages(channel.recv(RECEIVE_BYTES)):
                _, kind, _, sequence, _ = _HEADER.unpack_from(answer)
                if kind == NLMSG_ERROR and first <= sequence <= self._sequence:
                    errnos[sequence - first] = -_ERRNO.unpack_from(answer, _HEADER.size)[0]
                    if sequence == self._sequence:
                        return errnos

    def request(self, namespace: str, protocol: int, message: bytes) -> tuple[int, list[bytes]]:
        """Send one message; return (errno, payload messages). errno is positive, 0 when all went well.

        The message must ask for an acknowledgement or a dump: that is how the last answer is known.
        """
        channel = self._socket(namespace, protocol)
        self._sequence += 1
        channel.send(_numbered(message, self._sequence))
        payloads: list[bytes] = []
        while True:
            for answer in _messages(channel.recv(RECEIVE_BYTES)):
                _, kind, _, sequence, _ = _HEADER.unpack_from(answer)
                if sequence != self._sequence:
                    continue
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    code = _ERRNO.unpack_from(answer, _HEADER.size)[0] if len(answer) >= _HEADER.size + 4 else 0
                    return -code, payloads
                payloads.append(answer)

    def _socket(self, namespace: str, protocol: int) -> socket.socket:
        key = (namespace, protocol)
        if key not in self._sockets:
            with self._namespaces.inside(namespace):
                channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
                channel.bind((0, 0))
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
            channel.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
            # Not settimeout(): Python would then ask poll(2) before every message, each way.
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEOUT.pack(ANSWER_TIMEOUT_S, 0))
            self._sockets[key] = channel
        return self._sockets[key]


def _numbered(message: bytes, sequence: int, cleared: int = 0) -> bytes:
    """Return a message with its sequence number, padded as another may follow it."""
    length, kind, flags, _, _ = _HEADER.unpack_from(message)
    return _HEADER.pack(length, kind, flags & ~cleared, sequence, 0) + message[_HEADER.size :] + bytes(-length % 4)


def _without_acknowledgement(messages: Sequence[bytes], first: int) -> Iterator[bytes]:
    return (_numbered(message, first + place, NLM_F_ACK) for place, message in enumerate(messages))


def _messages(data: bytes) -> Iterator[bytes]:
    position = 0
    while position + _HEADER.size <= len(data):
        length = _HEADER.unpack_from(data, position)[0]
        yield data[position : position + length]
        position += (length + 3) & ~3
