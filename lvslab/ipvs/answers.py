"""The kernel's answers, each one netlink message, as values of the model.

All raise KernelFault for what they cannot read.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from typing import Any, TypeVar

from lvslab.errors import KernelFault
from lvslab.ipvs import codes, netlink
from lvslab.ipvs.model import (
    AddressKey,
    Destination,
    DestinationEntry,
    Family,
    Flag,
    FwmarkKey,
    Info,
    Persistence,
    Service,
    ServiceEntry,
    ServiceKey,
    Stats,
    SyncDaemon,
    Timeouts,
)
from lvslab.ipvs.netlink import Attributes
from lvslab.topology.model import Address, Tunnel

Word = TypeVar("Word")

_COUNTERS = ("CONNS", "INPKTS", "OUTPKTS", "INBYTES", "OUTBYTES", "CPS", "INPPS", "OUTPPS", "INBPS", "OUTBPS")
"""In the order of the fields of Stats."""


def family_id(payload: bytes) -> int:
    """Return the number the generic-netlink controller gave IPVS."""
    return int(_required(netlink.decode_family(payload), "CTRL_ATTR_FAMILY_ID"))


def service(payload: bytes) -> ServiceEntry:
    """Decode one service; its destinations come in messages of their own."""
    attributes = _required(netlink.decode(payload), "IPVS_CMD_ATTR_SERVICE")
    key = _key(attributes)
    scheduler = _required(attributes, "IPVS_SVC_ATTR_SCHED_NAME")
    bits = _required(attributes, "IPVS_SVC_ATTR_FLAGS")["flags"]
    decoded = Service(
        key=key,
        scheduler=scheduler,
        persistence=_persistence(attributes, key.family) if bits & codes.PERSISTENT else None,
        flags=_flags(bits, scheduler),
    )
    return ServiceEntry(decoded, _stats(_required(attributes, "IPVS_SVC_ATTR_STATS64")))


def destination(payload: bytes) -> DestinationEntry:
    attributes = _required(netlink.decode(payload), "IPVS_CMD_ATTR_DEST")

    def number(name: str) -> int:
        return int(_required(attributes, f"IPVS_DEST_ATTR_{name}"))

    decoded = Destination(
        address=_address(_required(attributes, "IPVS_DEST_ATTR_ADDR"), _family(number("ADDR_FAMILY"))),
        port=number("PORT"),
        method=_word(codes.METHOD, number("FWD_METHOD") & codes.METHOD_MASK, "forwarding method"),
        weight=number("WEIGHT"),
        upper_threshold=number("U_THRESH"),
        lower_threshold=number("L_THRESH"),
        tunnel=Tunnel(
            _word(codes.TUNNEL_KIND, number("TUN_TYPE"), "tunnel type"),
            number("TUN_PORT"),
            _word(codes.TUNNEL_CHECKSUM, number("TUN_FLAGS"), "set of tunnel flags"),
        ),
    )
    return DestinationEntry(
        decoded,
        active=number("ACTIVE_CONNS"),
        inactive=number("INACT_CONNS"),
        persistent=number("PERSIST_CONNS"),
        stats=_stats(_required(attributes, "IPVS_DEST_ATTR_STATS64")),
    )


def timeouts(payload: bytes) -> Timeouts:
    attributes = netlink.decode(payload)
    return Timeouts(*(_required(attributes, f"IPVS_CMD_ATTR_TIMEOUT_{name}") for name in ("TCP", "TCP_FIN", "UDP")))


def info(payload: bytes) -> Info:
    attributes = netlink.decode_info(payload)
    version = _required(attributes, "IPVS_INFO_ATTR_VERSION")
    return Info(
        version=(version >> 16 & 0xFF, version >> 8 & 0xFF, version & 0xFF),
        connection_table_size=_required(attributes, "IPVS_INFO_ATTR_CONN_TAB_SIZE"),
    )


def daemon(payload: bytes) -> SyncDaemon:
    attributes = _required(netlink.decode(payload), "IPVS_CMD_ATTR_DAEMON")
    return SyncDaemon(
        role=_word(codes.SYNC_ROLE, _required(attributes, "IPVS_DAEMON_ATTR_STATE"), "sync daemon state"),
        interface=_required(attributes, "IPVS_DAEMON_ATTR_MCAST_IFN"),
        sync_id=_required(attributes, "IPVS_DAEMON_ATTR_SYNC_ID"),
        max_bytes=attributes.get("IPVS_DAEMON_ATTR_SYNC_MAXLEN"),
        group=_group(attributes),
        port=attributes.get("IPVS_DAEMON_ATTR_MCAST_PORT"),
        ttl=attributes.get("IPVS_DAEMON_ATTR_MCAST_TTL"),
    )


def _required(attributes: Attributes, name: str) -> Any:
    if not isinstance(attributes, Mapping) or name not in attributes:
        raise KernelFault("cannot read the kernel's answer", expected=f"attribute {name}", found="none of that name")
    return attributes[name]


def _word(numbers: Mapping[Word, int], number: int, subject: str) -> Word:
    for word, known in numbers.items():
        if known == number:
            return word
    raise KernelFault(f"unknown {subject} in the kernel's answer", expected=f"{[*numbers.values()]}", found=str(number))


def _family(number: int) -> Family:
    return _word({family: int(family) for family in Family}, number, "address family")


def _address(data: bytes, family: Family) -> Address:
    """The kernel always sends room for 16 bytes."""
    return IPv4Address(data[:4]) if family is Family.IPV4 else IPv6Address(data[:16])


def _key(attributes: Attributes) -> ServiceKey:
    family = _family(_required(attributes, "IPVS_SVC_ATTR_AF"))
    if "IPVS_SVC_ATTR_FWMARK" in attributes:
        return FwmarkKey(attributes["IPVS_SVC_ATTR_FWMARK"], family)
    return AddressKey(
        _word(codes.PROTOCOL, _required(attributes, "IPVS_SVC_ATTR_PROTOCOL"), "service protocol"),
        _address(_required(attributes, "IPVS_SVC_ATTR_ADDR"), family),
        _required(attributes, "IPVS_SVC_ATTR_PORT"),
    )


def _persistence(attributes: Attributes, family: Family) -> Persistence:
    return Persistence(
        timeout_s=_required(attributes, "IPVS_SVC_ATTR_TIMEOUT"),
        prefix=_prefix(_required(attributes, "IPVS_SVC_ATTR_NETMASK"), family),
        engine=attributes.get("IPVS_SVC_ATTR_PE_NAME"),
    )


def _prefix(mask: bytes, family: Family) -> int | None:
    """Return the prefix length, or None for a mask that covers the whole address."""
    length = int(struct.unpack("=I", mask)[0]) if family is Family.IPV6 else _ipv4_prefix(IPv4Address(mask))
    return None if length == family.address_bits else length


def _ipv4_prefix(mask: IPv4Address) -> int:
    ones = int(mask).bit_count()
    if IPv4Network((0, ones)).netmask != mask:
        raise KernelFault("cannot read a persistence netmask", expected="contiguous bits", found=str(mask))
    return ones


def _flags(bits: int, scheduler: str) -> frozenset[Flag]:
    return frozenset(flag for flag, bit in codes.flag_bits(scheduler).items() if bits & bit)


def _group(attributes: Attributes) -> Address | None:
    if "IPVS_DAEMON_ATTR_MCAST_GROUP6" in attributes:
        return IPv6Address(attributes["IPVS_DAEMON_ATTR_MCAST_GROUP6"])
    if "IPVS_DAEMON_ATTR_MCAST_GROUP" in attributes:
        return IPv4Address(attributes["IPVS_DAEMON_ATTR_MCAST_GROUP"])
    return None


def _stats(attributes: Attributes) -> Stats:
    return Stats(*(_required(attributes, f"IPVS_STATS_ATTR_{name}") for name in _COUNTERS))
