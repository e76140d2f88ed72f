"""Addresses, ports, marks and numbers as ipvsadm writes them with -n. All raise BadInput, without a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address
from typing import Final, TypeVar

from lvslab.errors import BadInput
from lvslab.ipvs.model import Family, Flag
from lvslab.topology.limits import Range
from lvslab.topology.model import Address

_NUMERIC: Final = "save or list with -n"
_ENDPOINT = re.compile(r"(?:\[(?P<v6>[^\[\]]*)\]|(?P<v4>[^:\[\]]*)):(?P<port>[^:]*)")

Word = TypeVar("Word")


def endpoint_of(text: str) -> tuple[Address, int | None]:
    """Return the address, and the port if there is one: `192.0.2.1:80`, `[2001:db8::1]:80`, or an address alone."""
    found = _ENDPOINT.fullmatch(text)
    if found is None:
        return _address(text, ip_address), None
    port = number_of(found["port"], "port", 0, 65535)
    return _address(found["v6"], IPv6Address) if found["v4"] is None else _address(found["v4"], IPv4Address), port


def number_of(text: str, what: str, low: int, high: int) -> int:
    """Return a decimal number in a range."""
    number = Range(low, high).read(text)
    if number is not None:
        return number
    named = what == "port" and text.isascii() and text[:1].isalpha()
    raise BadInput(
        f"not a {what}", expected=f"{low} to {high}", found=repr(text), next_step=_NUMERIC if named else None
    )


def mark_of(text: str) -> int:
    """Return a firewall mark. ipvsadm prints those from 2**31 on as negative numbers, and does not read these back."""
    if re.fullmatch(r"-[0-9]{1,10}", text) and int(text) >= -(2**31):
        return int(text) % 2**32
    return number_of(text, "firewall mark", 1, 2**32 - 1)


def prefix_of(text: str, family: Family) -> int | None:
    """Return the prefix length of a persistence netmask; None if it covers the whole address."""
    length = number_of(text, "prefix length", 1, 128) if family is Family.IPV6 else _ipv4_prefix(text)
    return None if length == family.address_bits else length


def flags_of(text: str) -> frozenset[Flag]:
    """Return the scheduler flags of `-b`, separated by commas."""
    named = {flag.value: flag for flag in Flag if flag is not Flag.ONE_PACKET}
    return frozenset(word_of(named, name, "scheduler flag") for name in text.split(","))


def word_of(known: Mapping[str, Word], text: str, what: str) -> Word:
    """Return what a word stands for."""
    if text not in known:
        raise BadInput(f"unknown {what}", expected=f"one of {', '.join(known)}", found=repr(text))
    return known[text]


def _address(text: str, parse: Callable[[str], Address]) -> Address:
    try:
        address = parse(text)
    except ValueError as error:
        named = re.search(r"[g-z]", text) is not None
        raise BadInput("not an address", found=repr(text), next_step=_NUMERIC if named else None) from error
    if "%" in text:
        raise BadInput("address with a scope", expected="a routable address", found=repr(text))
    return address


def _ipv4_prefix(text: str) -> int:
    mask = _address(text, IPv4Address)
    length = int(mask).bit_count()
    if IPv4Network((0, length)).netmask != mask:
        raise BadInput("not a netmask", expected="contiguous bits, as in 255.255.255.0", found=repr(text))
    return length
