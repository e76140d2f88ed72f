"""What nodes remember: neighbours learnt or entered by hand, and ports that sockets have."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from pyroute2.netlink.rtnl import RTM_NEWNEIGH
from pyroute2.netlink.rtnl.ndmsg import ndmsg

from lvslab.sandbox import rtnl
from lvslab.sandbox.neighbours import delete_neighbour, learned
from lvslab.sandbox.ports import local_ports

VIP = ip_address("198.18.0.10")
REACHABLE, STALE = 0x02, 0x04  # linux/neighbour.h


def entry(address: str, index: int, state: int) -> bytes:
    message = ndmsg()
    message["family"] = rtnl.family(ip_address(address).version)
    message["ifindex"], message["state"] = index, state
    message["attrs"] = [("NDA_DST", address)]
    return rtnl.encoded(message, RTM_NEWNEIGH, 0)


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ([], []),
        ([entry("198.18.0.10", 100, REACHABLE)], [100]),
        ([entry("198.18.0.10", 100, STALE), entry("198.18.0.10", 101, REACHABLE)], [100, 101]),
        ([entry("198.18.0.11", 100, REACHABLE), entry("2001:db8::1", 100, REACHABLE)], []),
        ([entry("198.18.0.10", 100, rtnl.NUD_PERMANENT), entry("198.18.0.10", 101, rtnl.NUD_NOARP)], []),
    ],
)
def test_only_what_was_learnt_is_forgotten(entries: list[bytes], found: list[int]) -> None:
    assert learned(entries, VIP) == found


def test_the_request_names_interface_and_address() -> None:
    message = ndmsg(delete_neighbour(100, VIP))
    message.decode()
    assert (message["ifindex"], message.get_attr("NDA_DST")) == (100, "198.18.0.10")


def test_ports_of_sockets_whatever_their_state() -> None:
    table = (
        "  sl  local_address rem_address   st tx_queue rx_queue\n"
        "   0: 00000000:0050 00000000:0000 0A 00000000:00000000\n"
        "   1: 0A7100CB:4E21 0A0012C6:0050 06 00000000:00000000\n"
    )
    assert local_ports(table) == {80, 20001}
