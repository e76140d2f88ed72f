"""Which node a MAC belongs to, learned from the frames themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from lvslab.capture.frame import Direction
from lvslab.walk.model import Hop, Names

_MULTICAST_BIT = 0x01
_BROADCAST = "ff:ff:ff:ff:ff:ff"
_NO_MAC = "00:00:00:00:00:00"


def learn_names(hop_groups: Iterable[tuple[Hop, ...]], labels: Mapping[str, str] | None = None) -> Names:
    """Return names of the MACs seen.

    A node sends from its own MAC what it originates and what it routes (the source MAC differs from the one it
    received), and the kernel marks as incoming only what is addressed to the interface's own MAC.
    """
    macs: dict[str, str] = {}
    for hops in hop_groups:
        for hop in hops:
            mac = _possibly_own_mac(hop)
            if mac is not None and mac not in macs and _is_own(mac, hop, hops):
                macs[mac] = hop.node
    return Names(macs, dict(labels or {}))


def _possibly_own_mac(hop: Hop) -> str | None:
    ethernet = hop.packet.ethernet
    if ethernet is None:
        return None
    return ethernet.destination if hop.direction is Direction.IN else ethernet.source


def _is_own(mac: str, hop: Hop, hops: tuple[Hop, ...]) -> bool:
    if mac == _NO_MAC or is_group(mac):
        return False
    if hop.direction is Direction.IN:
        return True
    before = next((other for other in hops if other.number == hop.previous), None)
    return before is None or before.packet.ethernet is None or before.packet.ethernet.source != mac


@lru_cache(maxsize=65536)
def is_group(mac: str) -> bool:
    """Tell a broadcast or multicast MAC."""
    return bool(int(mac[:2], 16) & _MULTICAST_BIT)


def mac_name(names: Names, mac: str) -> str:
    """Return the node, `broadcast`, or the MAC itself."""
    return "broadcast" if mac == _BROADCAST else names.macs.get(mac, mac)


def address_name(names: Names, address: str) -> str:
    """Return the address with its label, such as ``203.0.113.100 (VIP)``."""
    label = names.labels.get(address)
    return f"{address} ({label})" if label else address
