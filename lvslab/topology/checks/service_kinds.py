"""What kinds of service need: persistence, one-packet scheduling, scheduler flags, firewall marks."""

from __future__ import annotations

from collections.abc import Iterator

from lvslab.topology.faults import Fault, KeyPath
from lvslab.topology.model import Application, ArpCure, Method, Protocol, SchedulerFlag, Topology, VirtualService

_SCHEDULER_OF = {
    SchedulerFlag.SH_FALLBACK: "sh",
    SchedulerFlag.SH_PORT: "sh",
    SchedulerFlag.MH_FALLBACK: "mh",
    SchedulerFlag.MH_PORT: "mh",
}


def check_kind(service: VirtualService, path: KeyPath) -> Iterator[Fault]:
    """Refuse what the kernel would take and never heed."""
    if service.persistence_prefix is not None and service.persistence_s is None:
        yield Fault(
            (*path, "persistence_prefix"), "prefix without persistence", "'persistence:' in seconds too", "none"
        )
    if service.one_packet and service.protocol is not Protocol.UDP:
        # ip_vs_core.c: ip_vs_schedule heeds the flag for UDP only.
        yield Fault((*path, "one_packet"), "one-packet scheduling is for UDP", "protocol udp", str(service.protocol))
    if service.application is Application.FTP and service.vip.version == 6:
        # The test calls are those of RFC 959; EPRT and EPSV (RFC 2428) are not among them.
        yield Fault((*path, "application"), "FTP over IPv6", "an IPv4 VIP", str(service.vip))
    if service.application is Application.FTP and service.protocol is not Protocol.TCP:
        yield Fault((*path, "application"), "FTP is spoken over TCP", "protocol tcp", str(service.protocol))
    if service.arp_cure is not ArpCure.SYSCTLS and (service.method is Method.NAT or service.vip.version == 6):
        expected = "an IPv4 VIP that servers hold as well: method dr or tun"
        found = str(service.vip) if service.vip.version == 6 else f"method {service.method}"
        yield Fault((*path, "arp_cure"), "cure without the ARP problem", expected, found)
    for flag in sorted(service.flags):
        if service.scheduler != _SCHEDULER_OF[flag]:
            expected = f"scheduler {_SCHEDULER_OF[flag]}"
            yield Fault((*path, "flags"), f"flag {flag} of another scheduler", expected, service.scheduler)


def check_marks(topology: Topology) -> Iterator[Fault]:
    """Services of one mark are one to the kernel: what it has once must be the same in all of them."""
    first: dict[tuple[object, ...], int] = {}
    for index, service in enumerate(topology.services):
        if service.mark_key is None:
            continue
        path: KeyPath = ("services", index)
        for number, destination in enumerate(service.destinations):
            if destination.port != service.port:
                yield Fault(
                    (*path, "servers", number),
                    "port map with a firewall mark",
                    f"the service's port {service.port}",
                    str(destination.port),
                    "remove the port: a mark stands for several, and the kernel keeps the one the client asked for",
                )
        other = first.setdefault(service.mark_key, index)
        differing = _differing(topology.services[other], service)
        if differing:
            yield Fault(
                (*path, differing[0]),
                f"services of mark {service.mark} differ",
                f"the same as in services[{other}]",
                ", ".join(differing),
                "one mark is one virtual service: give the other a mark of its own",
            )


def _differing(one: VirtualService, other: VirtualService) -> list[str]:
    """Return the keys of the file in which two services of one mark differ."""
    pairs = {
        "method": (one.method, other.method),
        "scheduler": (one.scheduler, other.scheduler),
        "persistence": (one.persistence_s, other.persistence_s),
        "persistence_prefix": (one.persistence_prefix, other.persistence_prefix),
        "flags": (one.flags, other.flags),
        "one_packet": (one.one_packet, other.one_packet),
        "servers": (_servers(one), _servers(other)),
    }
    return [key for key, (mine, theirs) in pairs.items() if mine != theirs]


def _servers(service: VirtualService) -> list[tuple[object, ...]]:
    return [
        (item.node, item.address, item.weight, item.upper_threshold, item.lower_threshold)
        for item in service.destinations
    ]
