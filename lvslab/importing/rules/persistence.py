"""Persistence, and services on every port, which need it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lvslab.importing.configuration import Configuration
from lvslab.importing.finding import Finding
from lvslab.ipvs.model import AddressKey, Flag

_PORT_FLAGS: Final = (Flag.SH_PORT, Flag.MH_PORT)


def every_port(configuration: Configuration) -> Iterator[Finding]:
    """ip_vs_ctl.c: ip_vs_service_find falls back to port 0, so whatever the servers listen on is open."""
    for written in configuration.services:
        key = written.service.key
        if isinstance(key, AddressKey) and key.port == 0 and written.service.persistence is not None:
            yield Finding(
                written.line,
                "port 0 takes every port of the VIP, SSH of the servers included",
                found=str(key),
                next_step="name the port; only protocols that open more ports, such as FTP, need this",
                is_warning=True,
            )


def port_flag_with_persistence(configuration: Configuration) -> Iterator[Finding]:
    """A template is found by the client's address before any scheduler is asked (ip_vs_core.c: ip_vs_sched_persist)."""
    for written in configuration.services:
        flags = [flag for flag in _PORT_FLAGS if flag in written.service.flags]
        if flags and written.service.persistence is not None:
            yield Finding(
                written.line,
                f"persistence undoes {flags[0]}: one client stays with one server, whatever its port",
                next_step="leave one of the two out",
                is_warning=True,
            )


def two_ports_of_one_site(configuration: Configuration) -> Iterator[Finding]:
    """Two services for two ports of one persistent site are two: a client may get a server for each."""
    by_address: dict[object, list[int]] = {}
    for written in configuration.services:
        key = written.service.key
        if isinstance(key, AddressKey) and key.port in (80, 443) and written.service.persistence is not None:
            by_address.setdefault((key.address, key.protocol), []).append(written.line)
    for lines in by_address.values():
        if len(lines) > 1:
            yield Finding(
                lines[-1],
                f"ports 80 and 443 are persistent each for itself (line {lines[0]}): a client may get two servers",
                next_step="mark both with iptables and make one service of the mark (-f)",
                is_warning=True,
            )


RULES: Final = (every_port, port_flag_with_persistence, two_ports_of_one_site)
