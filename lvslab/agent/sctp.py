"""Whether this kernel can do SCTP: sockets that speak it, and an IPVS that was built with it."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

SYMBOLS = Path("/proc/kallsyms")
"""Names of the kernel's functions, of those modules too that are loaded (CONFIG_KALLSYMS)."""
_IPVS = " ip_vs_"
_SCTP_OF_IPVS = " sctp_conn_schedule"
_SCTP_OF_TRACKING = " nf_conntrack_sctp_packet"
"""net/netfilter/ipvs/ip_vs_proto_sctp.c, net/netfilter/nf_conntrack_proto_sctp.c."""


def lacking(*, tracked: bool) -> str:
    """Return what the kernel lacks, named as in its configuration, or an empty text.

    `tracked`: connection tracking must know SCTP as well, so that clients can be translated.
    """
    if not _has_sockets():
        return "SCTP sockets (CONFIG_IP_SCTP, module sctp)"
    return lacking_in(SYMBOLS.read_text() if SYMBOLS.exists() else "", tracked=tracked)


def lacking_in(symbols: str, *, tracked: bool) -> str:
    """As :func:`lacking`, by the kernel's symbols; one that does not show those of IPVS is taken to have everything."""
    if _IPVS not in symbols:
        return ""
    if _SCTP_OF_IPVS not in symbols:
        return "SCTP in its IPVS (CONFIG_IP_VS_PROTO_SCTP)"
    if tracked and _SCTP_OF_TRACKING not in symbols:
        return "SCTP in its connection tracking (CONFIG_NF_CT_PROTO_SCTP)"
    return ""


def _has_sockets() -> bool:
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP).close()
    except OSError as error:
        if error.errno in (errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT):
            return False
        raise
    return True
