"""The least that a network of N nodes costs: unshare(2) and one veth pair each, over one raw netlink socket.

    floor.py NODES

Prints what making and removing them took, as JSON. Bytes of the request: rtnetlink(7), linux/if_link.h, linux/veth.h.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))

from lvslab.agent import syscalls

RTM_NEWLINK = 16
REQUEST_ACK_CREATE_EXCL = 0x1 | 0x4 | 0x400 | 0x200
IFLA_IFNAME, IFLA_LINKINFO, IFLA_NET_NS_FD = 3, 18, 28
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
IFF_UP = 1
_HEADER = struct.Struct("=IHHII")
_INTERFACE = struct.Struct("=BxHiII")
_ATTRIBUTE = struct.Struct("=HH")
_ERRNO = struct.Struct("=i")


def attribute(kind: int, *contents: bytes) -> bytes:
    payload = b"".join(contents)
    length = _ATTRIBUTE.size + len(payload)
    return _ATTRIBUTE.pack(length, kind) + payload + bytes(-length % 4)


def veth_request(port: str, namespace: int) -> bytes:
    """Return the request for a veth pair: `port` here, up, and `eth0` in the namespace held by a descriptor."""
    up, down = _INTERFACE.pack(0, 0, 0, IFF_UP, IFF_UP), _INTERFACE.pack(0, 0, 0, 0, 0)
    name = attribute(IFLA_IFNAME, b"eth0\0")
    peer = attribute(VETH_INFO_PEER, down, name, attribute(IFLA_NET_NS_FD, struct.pack("=i", namespace)))
    information = attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, b"veth"), attribute(IFLA_INFO_DATA, peer))
    body = up + attribute(IFLA_IFNAME, port.encode() + b"\0") + information
    return _HEADER.pack(_HEADER.size + len(body), RTM_NEWLINK, REQUEST_ACK_CREATE_EXCL, 1, 0) + body


def new_namespace() -> int:
    syscalls.unshare(syscalls.CLONE_NEWNET)
    return os.open("/proc/self/ns/net", os.O_RDONLY)


def make_node(channel: socket.socket, number: int) -> int:
    namespace = new_namespace()
    channel.send(veth_request(f"port{number}", namespace))
    code = _ERRNO.unpack_from(channel.recv(4096), _HEADER.size)[0]
    if code:
        raise OSError(-code, os.strerror(-code))
    return namespace


def main() -> None:
    nodes = int(sys.argv[1])
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    begun = time.perf_counter()
    switch = new_namespace()
    channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    channel.bind((0, 0))
    namespaces = [make_node(channel, number) for number in range(nodes)]
    built = time.perf_counter()
    syscalls.setns(home, syscalls.CLONE_NEWNET)
    channel.close()
    for namespace in (switch, *namespaces):
        os.close(namespace)
    sys.stdout.write(json.dumps({"build_s": built - begun, "remove_s": time.perf_counter() - built}) + "\n")


if __name__ == "__main__":
    main()
