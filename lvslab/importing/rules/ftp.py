"""FTP opens a second connection for its data (RFC 959, section 3.2), which must reach the same server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lvslab.importing.configuration import Configuration
from lvslab.importing.finding import Finding
from lvslab.ipvs.model import AddressKey
from lvslab.topology.model import Method, Protocol

FTP_PORT: Final = 21


def data_connections(configuration: Configuration) -> Iterator[Finding]:
    for written in configuration.services:
        key = written.service.key
        if not (isinstance(key, AddressKey) and key.protocol is Protocol.TCP and key.port == FTP_PORT):
            continue
        methods = {item.destination.method for item in written.destinations}
        if methods & {Method.DR, Method.TUN}:
            yield Finding(
                written.line,
                "FTP's data connections go to ports that no service has",
                next_step="use port 0 with persistence, or a firewall mark for port 21 and the passive ports",
                is_warning=True,
            )
        elif Method.NAT in methods:
            yield Finding(
                written.line,
                "FTP through nat needs its helper",
                next_step="load ip_vs_ftp on the director, with net.ipv4.vs.conntrack=1",
                is_warning=True,
            )


RULES: Final = (data_connections,)
