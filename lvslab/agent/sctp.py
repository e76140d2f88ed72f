"""Whether this kernel can do SCTP: sockets that speak it, and an IPVS that was built with it."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

SYMBOLS = Path("/proc/kallsyms")
_OF_IPVS = " ip_vs_"
_OF_ITS_SCTP = " sctp_conn_schedule"
"""net/netfilter/ipvs/ip_vs_proto_sctp.c."""


def lacking() -> str:
    """Return what the kernel lacks, named as in its configuration, or an empty text."""
    if not _has_sockets():
        return "SCTP sockets (CONFIG_IP_SCTP, module sctp)"
    return "" if ipvs_has_sctp(SYMBOLS) else "SCTP in its IPVS (CONFIG_IP_VS_PROTO_SCTP)"


def _has_sockets() -> bool:
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP).close()
    except OSError as error:
        if error.errno in (errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT):
            return False
        raise
    return True


def ipvs_has_sctp(symbols: Path) -> bool:
    """Tell by the kernel's symbols (kallsyms); a kernel that does not show those of IPVS is taken to have it."""
    shown = symbols.read_text() if symbols.exists() else ""
    return _OF_ITS_SCTP in shown or _OF_IPVS not in shown
