"""Turns offloads of an interface off, so that captures show what a wire would carry (linux/ethtool.h).

veth hands frames over with the checksum still to be filled in, and tunnel devices merge TCP segments that came one by
one (net/core/gro_cells.c). What ``ethtool -K DEV tx off`` and ``gro off`` do, by ioctl(SIOCETHTOOL).
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct

from lvslab.agent.namespaces import Namespaces

SIOCETHTOOL = 0x8946
ETHTOOL_STXCSUM = 0x00000017
ETHTOOL_SGRO = 0x0000002C


def transmit_checksum_off(namespaces: Namespaces, node: str, interface: str) -> None:
    _turn_off(namespaces, node, interface, ETHTOOL_STXCSUM)


def receive_offload_off(namespaces: Namespaces, node: str, interface: str) -> None:
    _turn_off(namespaces, node, interface, ETHTOOL_SGRO)


def _turn_off(namespaces: Namespaces, node: str, interface: str, command: int) -> None:
    value = ctypes.create_string_buffer(struct.pack("=II", command, 0))
    request = struct.pack("16sP", interface.encode(), ctypes.addressof(value))
    with namespaces.inside(node), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        fcntl.ioctl(channel, SIOCETHTOOL, request)
