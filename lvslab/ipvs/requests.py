"""The requests an IPVS table understands, each as one netlink message. `family_id` is the kernel's number for IPVS."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Any

from lvslab.ipvs import codes
from lvslab.ipvs.model import (
    Destination,
    Family,
    FwmarkKey,
    Service,
    ServiceKey,
    SyncDaemon,
    Timeouts,
)
from lvslab.ipvs.netlink import Attributes, Command, encode


def add_service(family_id: int, service: Service) -> bytes:
    return _about_service(family_id, Command.NEW_SERVICE, _service(service))


def set_service(family_id: int, service: Service) -> bytes:
    """Change scheduler, flags and persistence of the service with this key."""
    return _about_service(family_id, Command.SET_SERVICE, _service(service))


def delete_service(family_id: int, key: ServiceKey) -> bytes:
    return _about_service(family_id, Command.DEL_SERVICE, _key(key))


def get_service(family_id: int, key: ServiceKey) -> bytes:
    return _about_service(family_id, Command.GET_SERVICE, _key(key))


def dump_services(family_id: int) -> bytes:
    return encode(family_id, Command.GET_SERVICE, {}, dump=True)


def add_destination(family_id: int, key: ServiceKey, destination: Destination) -> bytes:
    return _about_destination(family_id, Command.NEW_DEST, key, _destination(destination))


def set_destination(family_id: int, key: ServiceKey, destination: Destination) -> bytes:
    """Change everything but address and port, which say which destination is meant."""
    return _about_destination(family_id, Command.SET_DEST, key, _destination(destination))


def delete_destination(family_id: int, key: ServiceKey, destination: Destination) -> bytes:
    return _about_destination(family_id, Command.DEL_DEST, key, _destination_key(destination))


def dump_destinations(family_id: int, key: ServiceKey) -> bytes:
    """Ask for one service's destinations, in the order the schedulers walk them; an unknown service has none."""
    return encode(family_id, Command.GET_DEST, {"IPVS_CMD_ATTR_SERVICE": _key(key)}, dump=True)


def flush(family_id: int) -> bytes:
    """Remove all services; connection entries stay until they expire."""
    return encode(family_id, Command.FLUSH, {})


def zero(family_id: int, key: ServiceKey | None = None) -> bytes:
    """Reset the counters of one service and its destinations, or of everything."""
    return encode(family_id, Command.ZERO, {} if key is None else {"IPVS_CMD_ATTR_SERVICE": _key(key)})


def get_timeouts(family_id: int) -> bytes:
    return encode(family_id, Command.GET_CONFIG, {})


def set_timeouts(family_id: int, timeouts: Timeouts) -> bytes:
    attributes = {
        "IPVS_CMD_ATTR_TIMEOUT_TCP": timeouts.tcp_s,
        "IPVS_CMD_ATTR_TIMEOUT_TCP_FIN": timeouts.tcp_fin_s,
        "IPVS_CMD_ATTR_TIMEOUT_UDP": timeouts.udp_s,
    }
    return encode(family_id, Command.SET_CONFIG, attributes)


def get_info(family_id: int) -> bytes:
    return encode(family_id, Command.GET_INFO, {})


def start_daemon(family_id: int, daemon: SyncDaemon) -> bytes:
    return encode(family_id, Command.NEW_DAEMON, {"IPVS_CMD_ATTR_DAEMON": _daemon(daemon)})


def stop_daemon(family_id: int, daemon: SyncDaemon) -> bytes:
    """Stop the daemon of this role; the kernel looks at nothing but the role."""
    return encode(family_id, Command.DEL_DAEMON, {"IPVS_CMD_ATTR_DAEMON": _daemon(daemon)})


def dump_daemons(family_id: int) -> bytes:
    return encode(family_id, Command.GET_DAEMON, {}, dump=True)


def _about_service(family_id: int, command: Command, service: Attributes) -> bytes:
    return encode(family_id, command, {"IPVS_CMD_ATTR_SERVICE": service})


def _about_destination(family_id: int, command: Command, key: ServiceKey, destination: Attributes) -> bytes:
    return encode(family_id, command, {"IPVS_CMD_ATTR_SERVICE": _key(key), "IPVS_CMD_ATTR_DEST": destination})


def _key(key: ServiceKey) -> Mapping[str, Any]:
    if isinstance(key, FwmarkKey):
        return {"IPVS_SVC_ATTR_AF": int(key.family), "IPVS_SVC_ATTR_FWMARK": key.mark}
    return {
        "IPVS_SVC_ATTR_AF": int(key.family),
        "IPVS_SVC_ATTR_PROTOCOL": codes.PROTOCOL[key.protocol],
        "IPVS_SVC_ATTR_ADDR": key.address.packed,
        "IPVS_SVC_ATTR_PORT": key.port,
    }


def _service(service: Service) -> Mapping[str, Any]:
    persistence = service.persistence
    known_bits = codes.flag_bits(service.scheduler)
    bits = sum(known_bits[flag] for flag in service.flags) | (codes.PERSISTENT if persistence else 0)
    attributes = {
        **_key(service.key),
        "IPVS_SVC_ATTR_SCHED_NAME": service.scheduler,
        "IPVS_SVC_ATTR_FLAGS": {"flags": bits, "mask": codes.ALL_FLAGS},
        "IPVS_SVC_ATTR_TIMEOUT": persistence.timeout_s if persistence else 0,
        "IPVS_SVC_ATTR_NETMASK": _netmask(service.key.family, persistence.prefix if persistence else None),
    }
    if persistence and persistence.engine:
        attributes["IPVS_SVC_ATTR_PE_NAME"] = persistence.engine
    return attributes


def _netmask(family: Family, prefix: int | None) -> bytes:
    """Return a mask in network order for IPv4, the bare prefix length in the host's order for IPv6."""
    length = family.address_bits if prefix is None else prefix
    if family is Family.IPV6:
        return struct.pack("=I", length)
    return IPv4Network((0, length)).netmask.packed


def _destination_key(destination: Destination) -> Mapping[str, Any]:
    return {
        "IPVS_DEST_ATTR_ADDR_FAMILY": int(Family.of(destination.address)),
        "IPVS_DEST_ATTR_ADDR": destination.address.packed,
        "IPVS_DEST_ATTR_PORT": destination.port,
    }


def _destination(destination: Destination) -> Mapping[str, Any]:
    return {
        **_destination_key(destination),
        "IPVS_DEST_ATTR_FWD_METHOD": codes.METHOD[destination.method],
        "IPVS_DEST_ATTR_WEIGHT": destination.weight,
        "IPVS_DEST_ATTR_U_THRESH": destination.upper_threshold,
        "IPVS_DEST_ATTR_L_THRESH": destination.lower_threshold,
        "IPVS_DEST_ATTR_TUN_TYPE": codes.TUNNEL_KIND[destination.tunnel.kind],
        "IPVS_DEST_ATTR_TUN_PORT": destination.tunnel.port,
        "IPVS_DEST_ATTR_TUN_FLAGS": codes.TUNNEL_CHECKSUM[destination.tunnel.checksum],
    }


def _daemon(daemon: SyncDaemon) -> Mapping[str, Any]:
    group = "MCAST_GROUP6" if daemon.group is not None and daemon.group.version == 6 else "MCAST_GROUP"
    values = {
        "STATE": codes.SYNC_ROLE[daemon.role],
        "MCAST_IFN": daemon.interface,
        "SYNC_ID": daemon.sync_id,
        "SYNC_MAXLEN": daemon.max_bytes,
        group: None if daemon.group is None else daemon.group.packed,
        "MCAST_PORT": daemon.port,
        "MCAST_TTL": daemon.ttl,
    }
    return {f"IPVS_DAEMON_ATTR_{name}": value for name, value in values.items() if value is not None}
