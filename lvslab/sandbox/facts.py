"""What a node's kernel says of itself: read to explain a failure, never to decide one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address

from pyroute2.netlink.rtnl.ifaddrmsg import ifaddrmsg

from lvslab.agent.processes import listening_ports
from lvslab.sandbox import rtnl
from lvslab.sandbox.sandbox import Sandbox

UDP_UNCONNECTED = "07"
SCTP_LISTENING = "10"
"""net/sctp/structs.h: SCTP_SS_LISTENING."""
SYSCTLS = ("net.ipv4.ip_forward", "net.ipv4.conf.all.rp_filter", "net.ipv4.conf.all.arp_ignore")
_PROC_NET = ("route", "ipv6_route", "tcp", "tcp6", "udp", "udp6", "netstat")


@dataclass(frozen=True, slots=True)
class RawFacts:
    """One node's state as plain values."""

    addresses: Mapping[str, tuple[str, ...]]
    up: frozenset[str]
    gateways: tuple[str, ...]
    sysctls: Mapping[str, str]
    listening: frozenset[tuple[str, int]]
    counters: Mapping[str, int]


def read_facts(sandbox: Sandbox, node: str, *, sctp: bool) -> RawFacts:
    """Read one node's addresses, devices, default gateways, sysctls, listeners and counters. Raises KernelFault.

    `sctp`: the kernel is known to have it, and so its table of endpoints.
    """
    links = sandbox.netlink(node, rtnl.dump_links())
    names = rtnl.decode_links(links)
    keys = [*SYSCTLS, *(f"net.ipv4.conf.{name}.rp_filter" for name in names.values())]
    values = sandbox.read_sysctls([(node, key) for key in keys])
    texts = sandbox.read_files([(node, f"/proc/net/{name}") for name in _PROC_NET])
    route, ipv6_route, tcp, tcp6, udp, udp6, netstat = (text.decode() for text in texts)
    listeners = {("tcp", port) for port in listening_ports([tcp, tcp6])}
    listeners |= {("udp", port) for table in (udp, udp6) for port in udp_ports(table)}
    if sctp:
        (endpoints,) = sandbox.read_files([(node, "/proc/net/sctp/eps")])
        listeners |= {("sctp", port) for port in sctp_ports(endpoints.decode())}
    return RawFacts(
        addresses=_addresses(sandbox.netlink(node, rtnl.dump_addresses()), names),
        up=frozenset(rtnl.decode_up(links)),
        gateways=default_gateways(route) + default_gateways_ipv6(ipv6_route),
        sysctls=dict(zip(keys, values, strict=True)),
        listening=frozenset(listeners),
        counters=counters(netstat),
    )


def _addresses(payloads: Sequence[bytes], names: Mapping[int, str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for payload in payloads:
        message = ifaddrmsg(payload)
        message.decode()
        device = names.get(message["index"], "")
        address = message.get_attr("IFA_LOCAL") or message.get_attr("IFA_ADDRESS")
        found[device] = (*found.get(device, ()), f"{address}/{message['prefixlen']}")
    return found


def default_gateways(table: str) -> tuple[str, ...]:
    """Return the gateways of default routes in the text of /proc/net/route (addresses in hex, host byte order)."""
    gateways = []
    for line in table.splitlines()[1:]:
        columns = line.split()
        if columns[1] == columns[7] == "00000000":
            gateways.append(".".join(str(byte) for byte in bytes.fromhex(columns[2])[::-1]))
    return tuple(gateways)


def default_gateways_ipv6(table: str) -> tuple[str, ...]:
    """Return the gateways of default routes in the text of /proc/net/ipv6_route (net/ipv6/route.c: rt6_info_route)."""
    gateways = []
    for line in table.splitlines():
        columns = line.split()
        destination, prefix, next_hop = columns[0], columns[1], columns[4]
        if int(destination, 16) == int(prefix, 16) == 0 and int(next_hop, 16):
            gateways.append(str(IPv6Address(int(next_hop, 16))))
    return tuple(gateways)


def counters(netstat: str) -> dict[str, int]:
    """Parse /proc/net/netstat: a line of names, then a line of values, group by group."""
    found: dict[str, int] = {}
    lines = netstat.splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        found |= dict(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
    return found


def udp_ports(table: str) -> set[int]:
    """Return the ports of unconnected sockets in the text of /proc/net/udp or udp6."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return {int(row[1].rsplit(":", 1)[1], 16) for row in rows if row[3] == UDP_UNCONNECTED}


def sctp_ports(table: str) -> set[int]:
    """Return the ports of listening sockets in the text of /proc/net/sctp/eps (net/sctp/proc.c: sctp_eps_seq_show)."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return {int(row[5]) for row in rows if row[3] == SCTP_LISTENING}
