"""Route netlink messages of the steps (rtnetlink(7), linux/if_link.h), encoded by pyroute2; pure bytes.

Devices made here get interface numbers of our choosing, so that everything can be said without asking the
kernel in between: `lo` is always 1, the kernel's own fallback tunnels take the lowest, ours start at 100. What many
nodes are told in the same words is encoded once.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from functools import cache
from typing import Any

from pyroute2.netlink import NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST
from pyroute2.netlink.rtnl import (
    RTM_GETADDR,
    RTM_GETLINK,
    RTM_NEWADDR,
    RTM_NEWLINK,
    RTM_NEWNEIGH,
    RTM_NEWROUTE,
)
from pyroute2.netlink.rtnl.ifaddrmsg import ifaddrmsg
from pyroute2.netlink.rtnl.ifinfmsg import ifinfmsg
from pyroute2.netlink.rtnl.ndmsg import ndmsg
from pyroute2.netlink.rtnl.rtmsg import rtmsg

from lvslab.topology.model import Address, InterfaceAddress, Route

IFF_UP = 1
FIRST_INDEX = 100
LOOPBACK_INDEX = 1
RT_TABLE_MAIN = 254
RTPROT_BOOT = 3
RT_SCOPE_UNIVERSE = 0
RT_SCOPE_HOST = 254
RTN_UNICAST = 1
NUD_NOARP = 0x40
NUD_PERMANENT = 0x80
INFINITY_LIFE_TIME = 0xFFFFFFFF

CREATE = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL
_CHANGE = NLM_F_REQUEST | NLM_F_ACK


def make_bridge(name: str, index: int) -> bytes:
    """Return the request for a bridge that forwards at once, without spanning tree and multicast snooping."""
    message = ifinfmsg()
    message["index"] = index
    message["flags"] = message["change"] = IFF_UP
    options = {"attrs": [("IFLA_BR_FORWARD_DELAY", 0), ("IFLA_BR_STP_STATE", 0), ("IFLA_BR_MCAST_SNOOPING", 0)]}
    kind = {"attrs": [("IFLA_INFO_KIND", "bridge"), ("IFLA_INFO_DATA", options)]}
    message["attrs"] = [("IFLA_IFNAME", name), ("IFLA_LINKINFO", kind)]
    return encoded(message, RTM_NEWLINK, CREATE)


def make_link(
    port: str, port_index: int, *, bridge_index: int, interface: str, index: int, mac: str, namespace_fd: int
) -> bytes:
    """Return the request for a veth pair: `port`, up, on the bridge; its peer in the node's namespace.

    `namespace_fd` is the agent's descriptor of that namespace.
    """
    peer_attributes = [("IFLA_IFNAME", interface), ("IFLA_ADDRESS", mac), ("IFLA_NET_NS_FD", namespace_fd)]
    peer = {"attrs": peer_attributes, "index": index}
    options = {"attrs": [("VETH_INFO_PEER", peer)]}
    kind = {"attrs": [("IFLA_INFO_KIND", "veth"), ("IFLA_INFO_DATA", options)]}
    message = ifinfmsg()
    message["index"] = port_index
    message["flags"] = message["change"] = IFF_UP
    message["attrs"] = [("IFLA_IFNAME", port), ("IFLA_LINKINFO", kind), ("IFLA_MASTER", bridge_index)]
    return encoded(message, RTM_NEWLINK, CREATE)


@cache
def set_up(name: str) -> bytes:
    message = ifinfmsg()
    message["flags"] = message["change"] = IFF_UP
    message["attrs"] = [("IFLA_IFNAME", name)]
    return encoded(message, RTM_NEWLINK, _CHANGE)


@cache
def set_mtu(name: str, mtu: int) -> bytes:
    message = ifinfmsg()
    message["attrs"] = [("IFLA_IFNAME", name), ("IFLA_MTU", mtu)]
    return encoded(message, RTM_NEWLINK, _CHANGE)


@cache
def add_address(index: int, address: InterfaceAddress, *, deprecated: bool) -> bytes:
    message = ifaddrmsg()
    message["family"] = family(address.version)
    message["prefixlen"] = address.network.prefixlen
    message["index"] = index
    # As `ip addr add` does: addresses of the loopback device are for this host only.
    on_loopback = index == LOOPBACK_INDEX and address.ip.is_loopback
    message["scope"] = RT_SCOPE_HOST if on_loopback else RT_SCOPE_UNIVERSE
    attributes: list[tuple[str, Any]] = [("IFA_LOCAL", str(address.ip)), ("IFA_ADDRESS", str(address.ip))]
    if deprecated:
        attributes.append(("IFA_CACHEINFO", {"ifa_preferred": 0, "ifa_valid": INFINITY_LIFE_TIME}))
    message["attrs"] = attributes
    return encoded(message, RTM_NEWADDR, CREATE)


@cache
def add_route(route: Route) -> bytes:
    message = rtmsg()
    message["family"] = family(route.via.version)
    message["dst_len"] = 0 if route.to is None else route.to.prefixlen
    message["table"] = RT_TABLE_MAIN
    message["proto"] = RTPROT_BOOT
    message["scope"] = RT_SCOPE_UNIVERSE
    message["type"] = RTN_UNICAST
    destination = [] if route.to is None else [("RTA_DST", str(route.to.network_address))]
    message["attrs"] = [*destination, ("RTA_GATEWAY", str(route.via))]
    return encoded(message, RTM_NEWROUTE, CREATE)


def add_neighbour(index: int, address: Address, mac: str) -> bytes:
    """Return the request for an entry that nothing but an administrator changes."""
    message = ndmsg()
    message["family"] = family(address.version)
    message["ifindex"] = index
    message["state"] = NUD_PERMANENT
    message["attrs"] = [("NDA_DST", str(address)), ("NDA_LLADDR", mac)]
    return encoded(message, RTM_NEWNEIGH, CREATE)


def dump_links() -> bytes:
    return encoded(ifinfmsg(), RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP)


def dump_addresses() -> bytes:
    return encoded(ifaddrmsg(), RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP)


def decode_up(payloads: Sequence[bytes]) -> list[str]:
    """Return the names of the devices that are up."""
    messages = map(_decoded_link, payloads)
    return [message.get_attr("IFLA_IFNAME") for message in messages if message["flags"] & IFF_UP]


def decode_links(payloads: Sequence[bytes]) -> dict[int, str]:
    """Return device names by interface number."""
    return {message["index"]: message.get_attr("IFLA_IFNAME") for message in map(_decoded_link, payloads)}


def decode_hardware(payloads: Sequence[bytes]) -> dict[str, int]:
    """Return the ARPHRD_* types of devices (linux/if_arp.h) by name."""
    return {message.get_attr("IFLA_IFNAME"): message["ifi_type"] for message in map(_decoded_link, payloads)}


def _decoded_link(payload: bytes) -> Any:
    message = ifinfmsg(payload)
    message.decode()
    return message


def family(version: int) -> int:
    return socket.AF_INET if version == 4 else socket.AF_INET6


def encoded(message: Any, kind: int, flags: int) -> bytes:
    message["header"]["type"] = kind
    message["header"]["flags"] = flags
    message.encode()
    return bytes(message.data)
