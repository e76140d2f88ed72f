"""The network devices of a running lab's nodes, as they are now: a user may add some at any time."""

from __future__ import annotations

import os

from lvslab.errors import KernelFault
from lvslab.kernels.channel import Channel
from lvslab.sandbox import rtnl
from lvslab.sandbox.transport import NETLINK_ROUTE, NetlinkTransport, Target


class Devices:
    """Asks the kernel, and remembers names by number. Raises KernelFault if the lab goes away."""

    def __init__(self, channel: Channel) -> None:
        self._transport = NetlinkTransport(channel)
        self._names: dict[tuple[str, int], str] = {}

    def hardware(self, node: str) -> dict[str, int]:
        """Return the ARPHRD_* types of a node's devices by name."""
        links = self._links(node)
        self._remember(node, links)
        return rtnl.decode_hardware(links)

    def name(self, device: tuple[str, int]) -> str:
        """Return the name behind a node and an interface number; `if` and the number if the device has gone."""
        if device not in self._names:
            node, number = device
            self._remember(node, self._links(node))
            self._names.setdefault(device, f"if{number}")
        return self._names[device]

    def _remember(self, node: str, links: tuple[bytes, ...]) -> None:
        self._names |= {(node, number): name for number, name in rtnl.decode_links(links).items()}

    def _links(self, node: str) -> tuple[bytes, ...]:
        reply = self._transport.send([(Target(node, NETLINK_ROUTE), rtnl.dump_links())], keep_going=True)[0]
        if reply.errno:
            raise KernelFault("the kernel does not list the devices", where=node, found=os.strerror(reply.errno))
        return reply.payloads
