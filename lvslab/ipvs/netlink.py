"""Attribute values to netlink bytes and back: the only module that knows pyroute2's IPVS messages.

Commands and attributes: linux/ip_vs.h; the lookup of the family's number: linux/genetlink.h. Sequence numbers and
port ids stay 0, for the transport to fill in. Every request asks for an acknowledgement or is a dump.

Addresses and netmasks are raw bytes here and tunnel ports big-endian: pyroute2's own tables read an IPv6 prefix
length as a dotted quad and a tunnel port in the host's byte order.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, ClassVar

from pyroute2.netlink import CTRL_CMD_GETFAMILY, GENL_ID_CTRL, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, ctrlmsg, genlmsg
from pyroute2.netlink import nla as netlink_attribute
from pyroute2.netlink.exceptions import NetlinkDecodeError
from pyroute2.netlink.generic import ipvs

from lvslab.errors import KernelFault

_LENGTH = struct.Struct("=I")
"""The length that begins every message, header included."""

Attributes = Mapping[str, Any]
"""Values by attribute name; a nested attribute is such a mapping itself. The kernel cares for no order."""


class Command(IntEnum):
    """IPVS_CMD_* of linux/ip_vs.h."""

    NEW_SERVICE = ipvs.IPVS_CMD_NEW_SERVICE
    SET_SERVICE = ipvs.IPVS_CMD_SET_SERVICE
    DEL_SERVICE = ipvs.IPVS_CMD_DEL_SERVICE
    GET_SERVICE = ipvs.IPVS_CMD_GET_SERVICE
    NEW_DEST = ipvs.IPVS_CMD_NEW_DEST
    SET_DEST = ipvs.IPVS_CMD_SET_DEST
    DEL_DEST = ipvs.IPVS_CMD_DEL_DEST
    GET_DEST = ipvs.IPVS_CMD_GET_DEST
    NEW_DAEMON = ipvs.IPVS_CMD_NEW_DAEMON
    DEL_DAEMON = ipvs.IPVS_CMD_DEL_DAEMON
    GET_DAEMON = ipvs.IPVS_CMD_GET_DAEMON
    SET_CONFIG = ipvs.IPVS_CMD_SET_CONFIG
    GET_CONFIG = ipvs.IPVS_CMD_GET_CONFIG
    GET_INFO = ipvs.IPVS_CMD_GET_INFO
    ZERO = ipvs.IPVS_CMD_ZERO
    FLUSH = ipvs.IPVS_CMD_FLUSH


def _retyped(table: tuple[tuple[str, str], ...], **types: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, types.get(name, kind)) for name, kind in table)


class _IpvsMessage(ipvs.ipvsmsg):  # type: ignore[misc]
    nla_map = _retyped(
        ipvs.ipvsmsg.nla_map,
        IPVS_CMD_ATTR_DAEMON="daemon",
        IPVS_CMD_ATTR_TIMEOUT_TCP="uint32",
        IPVS_CMD_ATTR_TIMEOUT_TCP_FIN="uint32",
        IPVS_CMD_ATTR_TIMEOUT_UDP="uint32",
    )

    class service(ipvs.ipvsmsg.service):  # type: ignore[misc]  # noqa: N801
        nla_map = _retyped(ipvs.ipvsmsg.service.nla_map, IPVS_SVC_ATTR_ADDR="cdata", IPVS_SVC_ATTR_NETMASK="cdata")

    class dest(ipvs.ipvsmsg.dest):  # type: ignore[misc]  # noqa: N801
        nla_map = _retyped(ipvs.ipvsmsg.dest.nla_map, IPVS_DEST_ATTR_ADDR="cdata", IPVS_DEST_ATTR_TUN_PORT="be16")

    class daemon(netlink_attribute):  # type: ignore[misc]  # noqa: N801
        nla_map = (
            ("IPVS_DAEMON_ATTR_UNSPEC", "none"),
            ("IPVS_DAEMON_ATTR_STATE", "uint32"),
            ("IPVS_DAEMON_ATTR_MCAST_IFN", "asciiz"),
            ("IPVS_DAEMON_ATTR_SYNC_ID", "uint32"),
            ("IPVS_DAEMON_ATTR_SYNC_MAXLEN", "uint16"),
            ("IPVS_DAEMON_ATTR_MCAST_GROUP", "cdata"),
            ("IPVS_DAEMON_ATTR_MCAST_GROUP6", "cdata"),
            ("IPVS_DAEMON_ATTR_MCAST_PORT", "uint16"),
            ("IPVS_DAEMON_ATTR_MCAST_TTL", "uint8"),
        )


class _InfoMessage(genlmsg):  # type: ignore[misc]
    """The answer to GET_INFO numbers its attributes on its own (IPVS_INFO_ATTR_*)."""

    nla_map: ClassVar = (
        ("IPVS_INFO_ATTR_UNSPEC", "none"),
        ("IPVS_INFO_ATTR_VERSION", "uint32"),
        ("IPVS_INFO_ATTR_CONN_TAB_SIZE", "uint32"),
    )


def encode(family_id: int, command: Command, attributes: Attributes, *, dump: bool = False) -> bytes:
    """Return one whole request; the answers to a dump end with NLMSG_DONE, to others with an acknowledgement."""
    message = _IpvsMessage()
    message["cmd"] = int(command)
    message["version"] = ipvs.GENL_VERSION
    message["attrs"] = [(name, _nested(value)) for name, value in attributes.items()]
    return _encoded(message, family_id, NLM_F_DUMP if dump else NLM_F_ACK)


def encode_get_family() -> bytes:
    """Ask the generic-netlink controller for IPVS's number, which differs from boot to boot."""
    message = ctrlmsg()
    message["cmd"] = CTRL_CMD_GETFAMILY
    message["version"] = 1
    message["attrs"] = [("CTRL_ATTR_FAMILY_NAME", ipvs.GENL_NAME)]
    return _encoded(message, GENL_ID_CTRL, NLM_F_ACK)


def decode(payload: bytes) -> Attributes:
    """Return the attributes of an answer about services, destinations, daemons or timeouts. Raises KernelFault."""
    return _decoded(_IpvsMessage, payload)


def decode_info(payload: bytes) -> Attributes:
    return _decoded(_InfoMessage, payload)


def decode_family(payload: bytes) -> Attributes:
    return _decoded(ctrlmsg, payload)


def _nested(value: Any) -> Any:
    return {"attrs": list(value.items())} if isinstance(value, Mapping) else value


def _encoded(message: Any, message_type: int, flags: int) -> bytes:
    message["header"]["type"] = message_type
    message["header"]["flags"] = NLM_F_REQUEST | flags
    message.encode()
    return bytes(message.data)


def _decoded(kind: Any, payload: bytes) -> Attributes:
    if len(payload) < _LENGTH.size or _LENGTH.unpack_from(payload)[0] != len(payload):
        raise KernelFault("cannot read the kernel's answer", expected="one whole message", found=payload[:64].hex())
    message = kind(payload)
    try:
        message.decode()
        return _plain(message)
    except (NetlinkDecodeError, struct.error, ValueError, KeyError) as fault:
        raise KernelFault("cannot read the kernel's answer", found=f"{payload[:64].hex()} ({fault})") from fault


def _plain(message: Any) -> Attributes:
    return {
        name: _plain(value) if isinstance(value, dict) and value.get("attrs") else value
        for name, value in message["attrs"]
    }
