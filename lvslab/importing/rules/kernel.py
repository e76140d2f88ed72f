"""What the kernel would refuse, ignore or change: the checks a table of our own passes, too."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Final

from lvslab.errors import BadInput
from lvslab.importing.configuration import Configuration
from lvslab.importing.finding import Finding
from lvslab.ipvs import validate
from lvslab.ipvs.model import AddressKey

_LOOPBACK: Final = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


def values(configuration: Configuration) -> Iterator[Finding]:
    for written in configuration.services:
        try:
            validate.check_service(written.service)
        except BadInput as error:
            yield Finding.of(error, written.line)


def destinations(configuration: Configuration) -> Iterator[Finding]:
    for written in configuration.services:
        for item in written.destinations:
            try:
                validate.check_destination(written.service, item.destination)
            except BadInput as error:
                yield Finding.of(error, item.line)


def duplicate_services(configuration: Configuration) -> Iterator[Finding]:
    first: dict[object, int] = {}
    for written in configuration.services:
        key = written.service.key
        if key in first:
            yield Finding(written.line, f"duplicate service, as on line {first[key]}", "each once", str(key))
        first.setdefault(key, written.line)


def duplicate_servers(configuration: Configuration) -> Iterator[Finding]:
    for written in configuration.services:
        first: dict[object, int] = {}
        for item in written.destinations:
            identity = (item.destination.address, item.destination.port)
            if identity in first:
                what = f"duplicate server, as on line {first[identity]}"
                yield Finding(item.line, what, "each once per service", str(item.destination))
            first.setdefault(identity, item.line)


def unusable_vips(configuration: Configuration) -> Iterator[Finding]:
    for written in configuration.services:
        key = written.service.key
        if isinstance(key, AddressKey) and (
            key.address.is_multicast
            or key.address.is_unspecified
            or any(key.address in network for network in _LOOPBACK)
        ):
            yield Finding(written.line, "no client can send to this VIP", "a unicast address", str(key.address))


RULES: Final = (values, destinations, duplicate_services, duplicate_servers, unusable_vips)
