"""Sockets that belong together on the agent's event loop, and end together."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable

BACKLOG = 1024
IP_FREEBIND = 15
IPV6_FREEBIND = 78
"""linux/in.h, linux/in6.h."""


class ChannelGroup:
    """Listening sockets and their connections; `close` ends them all."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._channels: set[socket.socket] = set()

    def close(self) -> None:
        for channel in list(self._channels):
            self.forget(channel)

    def watch(self, channel: socket.socket, events: int, action: Callable[[int], None]) -> None:
        """Call `action` when `channel` is ready; a channel watched already gets the new action."""
        if channel in self._channels:
            self._selector.modify(channel, events, action)
        else:
            self._selector.register(channel, events, action)
            self._channels.add(channel)

    def forget(self, channel: socket.socket) -> None:
        if channel not in self._channels:
            return
        self._selector.unregister(channel)
        self._channels.discard(channel)
        channel.close()


def listen(address: str, port: int, kind: socket.SocketKind, protocol: int = 0) -> socket.socket:
    """Open a listening (or, for datagrams, bound) socket in the present namespace."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    channel = socket.socket(family, kind | socket.SOCK_NONBLOCK, protocol)
    try:
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # IPv4 has a socket of its own where it is served.
            channel.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        _allow_absent_address(channel, family)
        channel.bind((address, port))
        if kind == socket.SOCK_STREAM:
            channel.listen(BACKLOG)
    except OSError:
        channel.close()
        raise
    return channel


def _allow_absent_address(channel: socket.socket, family: socket.AddressFamily) -> None:
    """Have a socket bound to an address that the node may lack: that is a fault to be shown, not one to stop at."""
    if family == socket.AF_INET6:
        channel.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)
    else:
        channel.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
