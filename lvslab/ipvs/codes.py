"""The numbers of linux/ip_vs.h, and the words of the model they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lvslab.ipvs.model import Flag, SyncRole
from lvslab.topology.model import Method, Protocol, TunnelChecksum, TunnelKind

PROTOCOL: Final[Mapping[Protocol, int]] = {Protocol.TCP: 6, Protocol.UDP: 17, Protocol.SCTP: 132}

METHOD: Final[Mapping[Method, int]] = {Method.NAT: 0, Method.LOCAL: 1, Method.TUN: 2, Method.DR: 3}
METHOD_MASK: Final = 0x7

TUNNEL_KIND: Final[Mapping[TunnelKind, int]] = {TunnelKind.IPIP: 0, TunnelKind.GUE: 1, TunnelKind.GRE: 2}
TUNNEL_CHECKSUM: Final[Mapping[TunnelChecksum, int]] = {
    TunnelChecksum.NONE: 0,
    TunnelChecksum.PRESENT: 1,
    TunnelChecksum.REMOTE: 2,
}

SYNC_ROLE: Final[Mapping[SyncRole, int]] = {SyncRole.MASTER: 1, SyncRole.BACKUP: 2}

PERSISTENT: Final = 0x1
ALL_FLAGS: Final = 0xFFFFFFFF
_ONE_PACKET = 0x4
_SCHEDULER_BITS = {Flag.SCHEDULER_1: 0x8, Flag.SCHEDULER_2: 0x10, Flag.SCHEDULER_3: 0x20}
_NAMED_BITS: Mapping[str, Mapping[Flag, int]] = {
    "sh": {Flag.SH_FALLBACK: 0x8, Flag.SH_PORT: 0x10, Flag.SCHEDULER_3: 0x20},
    "mh": {Flag.MH_FALLBACK: 0x8, Flag.MH_PORT: 0x10, Flag.SCHEDULER_3: 0x20},
}


def flag_bits(scheduler: str) -> Mapping[Flag, int]:
    """Return the flags a service with this scheduler can have; sh and mh give two bits names of their own."""
    return {Flag.ONE_PACKET: _ONE_PACKET} | dict(_NAMED_BITS.get(scheduler, _SCHEDULER_BITS))
