"""Reads the text of /proc/net/ip_vs_conn, ip_vs_conn_sync and ip_vs_stats_percpu.

Formats: net/netfilter/ipvs/ip_vs_conn.c (ip_vs_conn_seq_show, ip_vs_conn_sync_seq_show), ip_vs_ctl.c
(ip_vs_stats_percpu_show). Raises KernelFault, naming the line, for text of another form.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

from lvslab.errors import KernelFault
from lvslab.ipvs.entries import Origin
from lvslab.ipvs.model import Connection, Stats
from lvslab.ipvs.watched import EntryKey
from lvslab.topology.model import Address

_CONNECTIONS = "/proc/net/ip_vs_conn"
_ORIGINS = "/proc/net/ip_vs_conn_sync"
_COUNTERS = "/proc/net/ip_vs_stats_percpu"


def connections(text: str) -> tuple[Connection, ...]:
    """Parse /proc/net/ip_vs_conn, in the order of the kernel's hash table."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith("Pro FromIP"):
        raise _unreadable(_CONNECTIONS, 1, "the column titles", lines[0] if lines else "nothing")
    return tuple(_connection(number, line) for number, line in enumerate(lines[1:], start=2))


def origins(text: str) -> dict[EntryKey, Origin]:
    """Parse /proc/net/ip_vs_conn_sync: where each entry comes from."""
    return dict(_origin(number, line) for number, line in enumerate(text.splitlines()[1:], start=2))


def _origin(number: int, line: str) -> tuple[EntryKey, Origin]:
    columns = line.split()
    try:
        protocol, client, client_port, virtual, virtual_port = columns[:5]
        key = protocol, _address(client), int(client_port, 16), _address(virtual), int(virtual_port, 16)
        return key, Origin(columns[8].lower())
    except (ValueError, IndexError):
        raise _unreadable(_ORIGINS, number, "ten columns of one connection", line) from None


def totals(text: str) -> Stats:
    """Add up the rows of the CPUs in /proc/net/ip_vs_stats_percpu: all services of the namespace together.

    These rows are counted at the moment of reading and zeroing does not reset them, unlike the counters netlink reports
    and unlike the row `~`, which the estimator copies. The rates are left at 0: they are the estimator's.
    """
    numbered = list(enumerate(text.splitlines(), start=1))
    starts = [number for number, line in numbered if line.split()[:1] == ["CPU"]]
    ends = [number for number, line in numbered if line.split()[:1] == ["~"]]
    if not starts or not ends:
        raise _unreadable(_COUNTERS, 1, "a table from CPU to ~", text[:40])
    rows = [_counters(number, line) for number, line in numbered[starts[0] : ends[0] - 1]]
    return Stats(*(sum(column) for column in zip(*rows, strict=True)))


def _counters(number: int, line: str) -> tuple[int, ...]:
    try:
        _cpu, conns, packets_in, packets_out, bytes_in, bytes_out = (int(column, 16) for column in line.split())
    except ValueError:
        raise _unreadable(_COUNTERS, number, "a CPU and five hexadecimal counters", line) from None
    return conns, packets_in, packets_out, bytes_in, bytes_out


def _connection(number: int, line: str) -> Connection:
    columns = line.split(maxsplit=10)
    try:
        protocol, client, client_port, virtual, virtual_port, destination, destination_port, state, expires = columns[
            :9
        ]
        return Connection(
            protocol=protocol,
            client=_address(client),
            client_port=int(client_port, 16),
            virtual=_address(virtual),
            virtual_port=int(virtual_port, 16),
            destination=_address(destination),
            destination_port=int(destination_port, 16),
            state=state,
            expires_s=int(expires),
            engine=columns[9] if len(columns) > 9 else None,
            engine_data=columns[10] if len(columns) > 10 else None,
        )
    except ValueError:
        raise _unreadable(_CONNECTIONS, number, "nine columns of one connection", line) from None


def _address(text: str) -> Address:
    """IPv4 is eight hexadecimal digits, IPv6 is written out in full."""
    if ":" in text:
        return IPv6Address(text)
    if len(text) != 8:
        raise ValueError(text)
    return IPv4Address(int(text, 16))


def _unreadable(path: str, number: int, expected: str, found: str) -> KernelFault:
    return KernelFault("cannot read the kernel's text", where=f"{path}:{number}", expected=expected, found=repr(found))
