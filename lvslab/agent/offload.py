"""Turns transmit checksum offload of an interface off, so that captures show real checksums.

veth hands frames over with the checksum still to be filled in; a lab wants to see what a wire would carry.
ioctl(SIOCETHTOOL) with ETHTOOL_STXCSUM, linux/ethtool.h: what ``ethtool -K DEV tx off`` does.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct

from lvslab.agent.namespaces import Namespaces

SIOCETHTOOL = 0x8946
ETHTOOL_STXCSUM = 0x00000017


def transmit_checksum_off(namespaces: Namespaces, node: str, interface: str) -> None:
    value = ctypes.create_string_buffer(struct.pack("=II", ETHTOOL_STXCSUM, 0))
    request = struct.pack("16sP", interface.encode(), ctypes.addressof(value))
    with namespaces.inside(node), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        fcntl.ioctl(channel, SIOCETHTOOL, request)
