"""Refuse what the kernel would ignore, change without a word, or answer with a bare errno.

Each rule names its source; ip_vs_*.c are files of net/netfilter/ipvs in the kernel's source. What is wrong with a
single value and what is wrong between a service and its destination are judged apart. All raise BadInput.
"""

from __future__ import annotations

from typing import Final

from lvslab.errors import BadInput
from lvslab.ipvs.model import (
    AddressKey,
    Destination,
    Family,
    Flag,
    FwmarkKey,
    IntendedService,
    Persistence,
    Service,
    SyncDaemon,
    Timeouts,
)
from lvslab.topology.model import IPIP, Address, Method, Protocol, TunnelChecksum, TunnelKind
from lvslab.topology.wording import did_you_mean

SCHEDULERS: Final = (
    *("rr", "wrr", "lc", "wlc", "lblc", "lblcr", "dh", "sh"),
    *("sed", "nq", "fo", "ovf", "mh", "twos"),
)
"""The ip_vs_*.c schedulers of Linux 6.1 and later; a given kernel may lack some."""

MAX_PORT = 65535
MAX_WEIGHT = 65535
MAX_THRESHOLD = 65535
MAX_PERSISTENCE_S = 31 * 24 * 3600
MAX_TIMEOUT_S = (2**31 - 1) // 1000
MAX_MARK = 2**32 - 1
MAX_INTERFACE_NAME = 15

_FLAG_SCHEDULER = {Flag.SH_FALLBACK: "sh", Flag.SH_PORT: "sh", Flag.MH_FALLBACK: "mh", Flag.MH_PORT: "mh"}


def check_intended(intended: IntendedService) -> None:
    """Check a service, each of its destinations, and that no destination appears twice (the kernel: EEXIST)."""
    check_service(intended.service)
    seen: set[tuple[Address, int]] = set()
    for destination in intended.destinations:
        check_destination(intended.service, destination)
        identity = (destination.address, destination.port)
        if identity in seen:
            raise BadInput(
                "the same destination twice",
                where=_place(intended.service, destination),
                next_step="leave one out; a destination is one address and port",
            )
        seen.add(identity)


def check_service(service: Service) -> None:
    where = f"service {service.key}"
    check_scheduler(service.scheduler, where)
    if isinstance(service.key, FwmarkKey):
        _check_range("firewall mark", service.key.mark, 1, MAX_MARK, where)
    else:
        _check_address_key(service.key, service.persistence, where)
    for flag in sorted(service.flags):
        _check_flag(flag, service, where)
    if service.persistence is not None:
        _check_persistence(service, service.persistence, where)


def check_scheduler(name: str, where: str | None = None) -> None:
    if name not in SCHEDULERS:
        raise BadInput(
            "unknown scheduler",
            where=where,
            expected=f"one of {', '.join(SCHEDULERS)}",
            found=name,
            next_step=did_you_mean(name.lower(), SCHEDULERS),
        )


def check_destination(service: Service, destination: Destination) -> None:
    """Check one destination, by itself and against the service it is for."""
    where = _place(service, destination)
    _check_method(destination, where)
    _check_unicast(destination.address, where)
    _check_family(service, destination, where)
    _check_destination_port(service, destination, where)
    # ipvsadm(8), -w: a weight is between 0 and 65535. The kernel takes more, and its schedulers multiply with it.
    _check_range("weight", destination.weight, 0, MAX_WEIGHT, where)
    _check_thresholds(destination, where)
    _check_tunnel(destination, where)


def check_timeouts(timeouts: Timeouts) -> None:
    """Check the range that every kernel can count in ticks (ip_vs_ctl.c: ip_vs_set_timeout, at HZ=1000)."""
    for name, seconds in (("tcp", timeouts.tcp_s), ("tcpfin", timeouts.tcp_fin_s), ("udp", timeouts.udp_s)):
        _check_range(f"{name} timeout in seconds", seconds, 0, MAX_TIMEOUT_S, "IPVS timeouts")


def check_daemon(daemon: SyncDaemon) -> None:
    where = f"sync daemon {daemon.role}"
    # linux/ip_vs.h: IP_VS_IFNAME_MAXLEN counts the closing zero byte.
    _check_range("length of the interface's name", len(daemon.interface.encode()), 1, MAX_INTERFACE_NAME, where)
    # The kernel stores any number, but a sync message has one byte for it (ip_vs_sync.c: struct ip_vs_sync_mesg).
    _check_range("sync id", daemon.sync_id, 0, 255, where)
    if daemon.max_bytes is not None:
        _check_range("size of a sync message in bytes", daemon.max_bytes, 1, MAX_PORT, where)
    if daemon.port is not None:
        _check_range("port", daemon.port, 1, MAX_PORT, where)
    if daemon.ttl is not None:
        _check_range("TTL", daemon.ttl, 1, 255, where)
    if daemon.group is not None and not daemon.group.is_multicast:
        raise BadInput("not a multicast group", where=where, found=str(daemon.group))


def _place(service: Service, destination: Destination) -> str:
    return f"service {service.key}, destination {destination}"


def _check_range(what: str, value: int, low: int, high: int, where: str) -> None:
    if not low <= value <= high:
        raise BadInput(f"{what} out of range", where=where, expected=f"{low} to {high}", found=str(value))


def _check_address_key(key: AddressKey, persistence: Persistence | None, where: str) -> None:
    _check_range("port", key.port, 0, MAX_PORT, where)
    if key.port == 0 and persistence is None:
        # ip_vs_core.c: ip_vs_schedule.
        raise BadInput(
            "port 0 without persistence never schedules a connection",
            where=where,
            next_step="give the service a port, or make it persistent",
        )


def _check_flag(flag: Flag, service: Service, where: str) -> None:
    owner = _FLAG_SCHEDULER.get(flag)
    if owner is not None and owner != service.scheduler:
        raise BadInput(
            f"flag {flag} belongs to scheduler {owner}",
            where=where,
            found=f"scheduler {service.scheduler}, which would read the same bit otherwise or not at all",
            next_step=f"leave the flag out or use {owner}",
        )
    if flag in (Flag.SCHEDULER_1, Flag.SCHEDULER_2, Flag.SCHEDULER_3):
        raise BadInput(f"no scheduler of the kernel reads {flag} as such", where=where, next_step="use a named flag")
    if flag is Flag.ONE_PACKET and isinstance(service.key, AddressKey) and service.key.protocol is not Protocol.UDP:
        # ip_vs_core.c: ip_vs_schedule takes the flag into account for UDP only.
        found = f"{service.key.protocol.upper()}, where the kernel ignores the flag"
        raise BadInput("one-packet scheduling is for UDP", where=where, found=found)


def _check_persistence(service: Service, persistence: Persistence, where: str) -> None:
    _check_range("persistence timeout in seconds", persistence.timeout_s, 1, MAX_PERSISTENCE_S, where)
    if persistence.prefix is not None:
        # ip_vs_ctl.c: ip_vs_add_service wants 1 to 128 for IPv6; an IPv4 mask of 0 would make all clients one.
        _check_range("persistence prefix length", persistence.prefix, 1, service.key.family.address_bits, where)
    if persistence.engine is None:
        return
    if persistence.engine != "sip":
        raise BadInput("unknown persistence engine", where=where, expected="sip", found=persistence.engine)
    if isinstance(service.key, AddressKey) and service.key.protocol is not Protocol.UDP:
        # ip_vs_pe_sip.c: ip_vs_sip_fill_param.
        raise BadInput("the sip persistence engine reads UDP only", where=where, found=service.key.protocol.value)


def _check_method(destination: Destination, where: str) -> None:
    if destination.method is Method.LOCAL:
        raise BadInput(
            "local delivery is not asked for",
            where=where,
            found="method local, with which the kernel would ignore the address",
            next_step="use dr, or nat to change the port: the kernel delivers locally when the address is its own",
        )


def _check_unicast(address: Address, where: str) -> None:
    """Check what ip_vs_ctl.c: ip_vs_start_dest refuses with EINVAL and can be seen without a routing table."""
    link_local = address.version == 6 and address.is_link_local
    broadcast = address.version == 4 and int(address) == 2**32 - 1
    if address.is_multicast or address.is_unspecified or link_local or broadcast:
        raise BadInput("a destination needs a routable unicast address", where=where, found=str(address))


def _check_family(service: Service, destination: Destination, where: str) -> None:
    family = Family.of(destination.address)
    if family is not service.key.family and destination.method is not Method.TUN:
        # ip_vs_ctl.c: ip_vs_genl_set_cmd.
        raise BadInput(
            f"an {family} server of an {service.key.family} service needs method tun",
            where=where,
            found=f"method {destination.method}",
        )


def _check_destination_port(service: Service, destination: Destination, where: str) -> None:
    _check_range("port", destination.port, 0, MAX_PORT, where)
    if destination.method is Method.NAT:
        _check_mapped_port(service, destination, where)
    elif isinstance(service.key, AddressKey) and destination.port != service.key.port:
        # ip_vs_xmit.c: only ip_vs_nat_xmit rewrites ports; ipvsadm overwrites the port without a word.
        raise BadInput(
            f"method {destination.method} cannot map ports",
            where=where,
            expected=f"port {service.key.port}",
            found=f"port {destination.port}",
            next_step="use the service's port, or method nat",
        )


def _check_mapped_port(service: Service, destination: Destination, where: str) -> None:
    """Check that NAT's port is heeded: where one persistence template spans ports, the client's port is kept."""
    every_port = isinstance(service.key, FwmarkKey) or service.key.port == 0
    if every_port and service.persistence is not None and destination.port != 0:
        # ip_vs_core.c: ip_vs_sched_persist.
        raise BadInput(
            "a persistent service on every port keeps the port the client asked for",
            where=where,
            expected="port 0",
            found=f"port {destination.port}",
        )


def _check_thresholds(destination: Destination, where: str) -> None:
    upper, lower = destination.upper_threshold, destination.lower_threshold
    _check_range("upper threshold", upper, 0, MAX_THRESHOLD, where)
    _check_range("lower threshold", lower, 0, MAX_THRESHOLD, where)
    if lower > upper:
        # ip_vs_ctl.c: ip_vs_add_dest, ERANGE.
        raise BadInput(
            "lower threshold above the upper one", where=where, expected=f"at most {upper}", found=str(lower)
        )


def _check_tunnel(destination: Destination, where: str) -> None:
    tunnel = destination.tunnel
    if destination.method is not Method.TUN:
        if tunnel != IPIP:
            raise BadInput(
                f"tunnel {tunnel.kind} without method tun", where=where, found=f"method {destination.method}"
            )
        return
    if tunnel.kind is TunnelKind.GUE:
        _check_range("GUE port", tunnel.port, 1, MAX_PORT, where)
        return
    if tunnel.port != 0:
        raise BadInput(f"{tunnel.kind} has no port", where=where, found=f"port {tunnel.port}")
    # ip_vs_xmit.c: ip_vs_tunnel_xmit reads the checksum flags for GUE and GRE, and remcsum for GUE alone.
    allowed = {TunnelChecksum.NONE, TunnelChecksum.PRESENT} if tunnel.kind is TunnelKind.GRE else {TunnelChecksum.NONE}
    if tunnel.checksum not in allowed:
        raise BadInput(
            f"{tunnel.kind} ignores {tunnel.checksum}",
            where=where,
            expected=" or ".join(sorted(allowed)),
            found=str(tunnel.checksum),
        )
