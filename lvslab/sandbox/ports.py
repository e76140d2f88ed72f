"""Which ports of a client are still remembered: by its own sockets, and by directors' connection tables."""

from __future__ import annotations

from collections.abc import Sequence

from lvslab.ipvs.proc import connections
from lvslab.sandbox.sandbox import Sandbox

_SOCKET_TABLES = ("tcp", "tcp6", "udp", "udp6")


def remembered_ports(sandbox: Sandbox, clients: Sequence[str], directors: Sequence[str]) -> frozenset[int]:
    """Return the ports that sockets of `clients` have, or that `directors` know any client's connection by.

    A real server may remember more, in TIME_WAIT, but a client's newer connection takes its place there (RFC 6191).
    """
    files = [(director, "/proc/net/ip_vs_conn") for director in directors]
    files += [(client, f"/proc/net/{table}") for client in clients for table in _SOCKET_TABLES]
    texts = [text.decode() for text in sandbox.read_files(files)]
    ports = {entry.client_port for text in texts[: len(directors)] for entry in connections(text)}
    return frozenset(ports.union(*map(local_ports, texts[len(directors) :])))


def local_ports(table: str) -> set[int]:
    """Return the local ports in the text of /proc/net/tcp, tcp6, udp or udp6 (proc_net_tcp.rst)."""
    return {int(line.split()[1].rsplit(":", 1)[1], 16) for line in table.splitlines()[1:]}
