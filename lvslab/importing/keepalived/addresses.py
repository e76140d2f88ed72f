"""Addresses as keepalived.conf(5) writes them. All raise BadInput, without a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address, ip_interface, ip_network
from typing import Final

from lvslab.errors import BadInput
from lvslab.topology.model import Address

RANGE_LIMIT: Final = 256
"""Most addresses one range of a virtual_server_group may have here."""

_LAST_PART: Final = re.compile(r"(?P<before>.*[.:])(?P<first>[0-9A-Fa-f]+)-(?P<last>[0-9A-Fa-f]+)")


def address_of(text: str) -> Address:
    """Return an address written without prefix length."""
    try:
        return ip_address(text)
    except ValueError as error:
        prefix = re.search(r"/[0-9]+$", text)
        next_step = "remove the prefix length: a service has one address" if prefix else None
        raise BadInput("not an address", found=repr(text), next_step=next_step) from error


def held_address(text: str) -> Address:
    """Return the address of an entry of virtual_ipaddress, which may have a prefix length."""
    try:
        return ip_interface(text).ip
    except ValueError as error:
        raise BadInput("not an address", found=repr(text)) from error


def range_of(text: str) -> tuple[Address, ...]:
    """Return the addresses of `192.0.2.1`, `192.0.2.1-10`, `192.0.2.1-192.0.2.9` or `192.0.2.8/29`."""
    if "/" in text:
        return _limited(text, *_block(text))
    if "-" not in text:
        return (address_of(text),)
    ends = _LAST_PART.fullmatch(text)
    if ends is not None and not re.search(r"[.:]", ends["last"]):
        first, last = address_of(ends["before"] + ends["first"]), address_of(ends["before"] + ends["last"])
    else:
        first, last = (address_of(end) for end in text.split("-", 1))
    return _limited(text, first, last)


def _block(text: str) -> tuple[Address, Address]:
    try:
        network = ip_network(text)
    except ValueError as error:
        raise BadInput("not a range of addresses", found=repr(text)) from error
    return network[0], network[-1]


def _limited(text: str, first: Address, last: Address) -> tuple[Address, ...]:
    number = int(last) - int(first) + 1 if first.version == last.version else 0
    if not 1 <= number <= RANGE_LIMIT:
        raise BadInput("unusable range", expected=f"1 to {RANGE_LIMIT} addresses of one family", found=repr(text))
    return tuple(_from(first, number))


def _from(first: Address, number: int) -> Iterator[Address]:
    for offset in range(number):
        yield first + offset
