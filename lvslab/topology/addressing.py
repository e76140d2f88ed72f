"""Addresses and subnets from text, host numbers, and the MAC addresses of nodes."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from lvslab.topology.faults import UnusableError
from lvslab.topology.model import Address, InterfaceAddress, Subnet
from lvslab.topology.wording import shown

_HOST_NUMBER = re.compile(r"(?P<number>[0-9]{1,9})(?P<counting>\+?)")
_WITH_PREFIX = re.compile(r"[^/%]+/[0-9]{1,3}")


def parse_subnet(text: str) -> Subnet:
    """Return ``203.0.113.0/24`` or ``2001:db8::/64`` as a subnet; raises :class:`UnusableError`."""
    try:
        interface = _parse_with_prefix(text)
    except ValueError as error:
        raise UnusableError("not a subnet", expected="for example 203.0.113.0/24", found=shown(text)) from error
    if interface.ip != interface.network.network_address:
        raise UnusableError(
            "not a subnet: it has host bits set", found=shown(text), next_step=f"did you mean {interface.network}?"
        )
    return interface.network


def parse_address(text: str) -> Address:
    """Return an address without prefix length and scope; raises :class:`UnusableError`."""
    try:
        return ipaddress.ip_address("" if "%" in text else text)
    except ValueError as error:
        raise UnusableError("not an address", expected="for example 203.0.113.10", found=shown(text)) from error


def parse_interface_address(text: str) -> InterfaceAddress:
    """Return an address with its prefix length; raises :class:`UnusableError`."""
    try:
        return _parse_with_prefix(text)
    except ValueError as error:
        raise UnusableError(
            "not an address with prefix length", expected="for example 203.0.113.10/24", found=shown(text)
        ) from error


def _parse_with_prefix(text: str) -> InterfaceAddress:
    if not _WITH_PREFIX.fullmatch(text):
        raise ValueError(text)
    return ipaddress.ip_interface(text)


def host_addresses(
    hosts: Sequence[str], subnets: Sequence[Subnet], position: int, group_size: int
) -> tuple[InterfaceAddress, ...]:
    """Return the addresses one node has on a network.

    `hosts` are host numbers (10: the tenth address after the subnet's own, in each of `subnets`), host numbers that
    count up over a group of nodes ("11+"), or full addresses; `position` is the node's place in its group, from 0.
    Raises :class:`UnusableError`.
    """
    return tuple(address for host in hosts for address in _host_addresses(host, subnets, position, group_size))


def _host_addresses(
    host: str, subnets: Sequence[Subnet], position: int, group_size: int
) -> tuple[InterfaceAddress, ...]:
    number = _HOST_NUMBER.fullmatch(host)
    if group_size > 1 and not (number and number["counting"]):
        raise UnusableError(
            "one address for a whole group",
            expected="a first host number, counting up",
            found=shown(host),
            next_step=f"write {host}+" if number else "write '11+'",
        )
    if number is None:
        return (_placed(parse_address(host), subnets),)
    offset = int(number["number"]) + (position if number["counting"] else 0)
    return tuple(_numbered(offset, subnet) for subnet in subnets)


def _numbered(offset: int, subnet: Subnet) -> InterfaceAddress:
    if offset >= subnet.num_addresses:
        raise UnusableError(
            "host number outside the network",
            expected=f"less than {subnet.num_addresses} in {subnet}",
            found=str(offset),
            next_step="use a larger network or fewer nodes",
        )
    return ipaddress.ip_interface((subnet[offset], subnet.prefixlen))


def _placed(address: Address, subnets: Sequence[Subnet]) -> InterfaceAddress:
    for subnet in subnets:
        if address in subnet:
            return ipaddress.ip_interface((address, subnet.prefixlen))
    raise UnusableError(
        "address outside its network", expected="one in " + " or ".join(map(str, subnets)), found=str(address)
    )


def link_local_address(mac: str) -> ipaddress.IPv6Interface:
    """Return the IPv6 link-local address that a MAC makes (RFC 4291, appendix A: modified EUI-64)."""
    first, *rest = bytes.fromhex(mac.replace(":", ""))
    identifier = bytes((first ^ 0x02, *rest[:2], 0xFF, 0xFE, *rest[2:]))
    return ipaddress.IPv6Interface((b"\xfe\x80" + bytes(6) + identifier, 64))


def mac_address(node: int, interface: int) -> str:
    """Return a locally administered MAC that can be read: ``02:00:00:NN:NN:II``, node from 1, interface from 0."""
    return f"02:00:00:{node >> 8:02x}:{node & 0xFF:02x}:{interface:02x}"
