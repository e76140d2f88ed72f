"""Services seen together, and with what holds their addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lvslab.importing.configuration import Configuration
from lvslab.importing.finding import Finding
from lvslab.ipvs.model import AddressKey
from lvslab.topology.model import Address, Method


def server_is_vip(configuration: Configuration) -> Iterator[Finding]:
    """The kernel delivers to a VIP of its own locally instead of forwarding (ip_vs_xmit.c: __ip_vs_get_out_rt)."""
    vips = {
        written.service.key.address: written.line
        for written in reversed(configuration.services)
        if isinstance(written.service.key, AddressKey)
    }
    for written in configuration.services:
        for item in written.destinations:
            if item.destination.address in vips:
                yield Finding(
                    item.line,
                    f"the server is the VIP of line {vips[item.destination.address]}: packets never leave the director",
                    expected="the server's own address",
                    found=str(item.destination),
                )


def two_ways_back(configuration: Configuration) -> Iterator[Finding]:
    """Replies of NAT pass the director, those of DR must not: it drops packets whose source is its own VIP."""
    nat: dict[Address, int] = {}
    direct: dict[Address, int] = {}
    for written in configuration.services:
        for item in written.destinations:
            seen = nat if item.destination.method is Method.NAT else direct
            seen.setdefault(item.destination.address, item.line)
    for address in nat.keys() & direct.keys():
        first, second = sorted((nat[address], direct[address]))
        yield Finding(
            second,
            f"one server with nat and with dr or tun (line {first}): its default route fits one of them",
            found=str(address),
            next_step="use one method, or policy routing on the server",
            is_warning=True,
        )


def vips_nobody_holds(configuration: Configuration) -> Iterator[Finding]:
    held = configuration.vrrp_addresses
    if held is None:
        return
    for written in configuration.services:
        key = written.service.key
        if isinstance(key, AddressKey) and key.address not in held:
            yield Finding(
                written.line,
                "no vrrp_instance holds this VIP",
                expected="an entry in virtual_ipaddress",
                found=str(key.address),
                is_warning=True,
            )


RULES: Final = (server_is_vip, two_ways_back, vips_nobody_holds)
