"""What nodes know of their neighbours' hardware addresses (RTM_GETNEIGH, RTM_DELNEIGH: rtnetlink(7))."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from pyroute2.netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST
from pyroute2.netlink.rtnl import RTM_DELNEIGH, RTM_GETNEIGH
from pyroute2.netlink.rtnl.ndmsg import ndmsg

from lvslab.errors import KernelFault
from lvslab.sandbox import rtnl
from lvslab.sandbox.sandbox import Sandbox
from lvslab.topology.model import Address


def forget_neighbour(sandbox: Sandbox, nodes: Sequence[str], address: Address) -> None:
    """Make nodes ask again who has `address` when they next need to know; what an administrator entered stays.

    Raises KernelFault.
    """
    for node in nodes:
        for index in learned(sandbox.netlink(node, dump_neighbours(address.version)), address):
            # The kernel may have forgotten it meanwhile.
            with suppress(KernelFault):
                sandbox.netlink(node, delete_neighbour(index, address))


def dump_neighbours(version: int) -> bytes:
    message = ndmsg()
    message["family"] = rtnl.family(version)
    return rtnl.encoded(message, RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP)


def delete_neighbour(index: int, address: Address) -> bytes:
    message = ndmsg()
    message["family"] = rtnl.family(address.version)
    message["ifindex"] = index
    message["attrs"] = [("NDA_DST", str(address))]
    return rtnl.encoded(message, RTM_DELNEIGH, NLM_F_REQUEST | NLM_F_ACK)


def learned(payloads: Sequence[bytes], address: Address) -> list[int]:
    """Return the interfaces (by number) on which a node has found out who has `address`."""
    found = []
    for payload in payloads:
        message = ndmsg(payload)
        message.decode()
        by_hand = message["state"] & (rtnl.NUD_PERMANENT | rtnl.NUD_NOARP)
        if message.get_attr("NDA_DST") == str(address) and not by_hand:
            found.append(message["ifindex"])
    return found
