"""Which source ports the standard drive calls from.

The director, the real servers and the client remember a connection by its ports for minutes after it has ended
(IPVS: TIME_WAIT and FIN_WAIT 120 s, UDP 300 s, net/netfilter/ipvs/ip_vs_proto_*.c), and the director sends what comes
from a remembered port to the server it sent it to before. So each drive calls from ports that are not remembered.
They lie below those that other programs are given (ip_local_port_range, from 32768: ip-sysctl.rst), so that a program
that runs beside the drive does not take one of them.
"""

from __future__ import annotations

from collections.abc import Collection

from lvslab.errors import CannotRun

FIRST_PORT = 20001
LAST_PORT = 32767


def free_ports(count: int, taken: Collection[int]) -> range:
    """Return the first `count` ports in a row of which none is taken. Raises CannotRun if there are no more."""
    first = FIRST_PORT
    for port in sorted(taken):
        if first <= port < first + count:
            first = port + 1
    if first + count - 1 > LAST_PORT:
        raise CannotRun(
            "no source ports are left to call from",
            expected=f"{count} in a row, {FIRST_PORT} to {LAST_PORT}, that the director does not remember",
            next_step="wait a few minutes until it has forgotten them",
        )
    return range(first, first + count)
