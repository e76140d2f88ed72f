"""What one forwarding method alone has: tunnels that a server can unwrap, and source NAT."""

from __future__ import annotations

from collections.abc import Iterator

from lvslab.topology.faults import Fault, KeyPath
from lvslab.topology.model import IPIP, Method, TunnelChecksum, TunnelKind, VirtualService
from lvslab.topology.tunnels import tunnel_device

_CHECKSUMS = {
    TunnelKind.IPIP: (TunnelChecksum.NONE,),
    TunnelKind.GRE: (TunnelChecksum.NONE, TunnelChecksum.PRESENT),
    TunnelKind.GUE: tuple(TunnelChecksum),
}
"""net/netfilter/ipvs/ip_vs_xmit.c: ip_vs_tunnel_xmit."""


def check_method(service: VirtualService, path: KeyPath) -> Iterator[Fault]:
    if service.source_nat and service.method is not Method.NAT:
        yield Fault((*path, "source_nat"), "source NAT without method nat", "method nat", f"method {service.method}")
    for destination in service.destinations:
        tunnel = destination.tunnel
        if destination.method is not Method.TUN:
            if tunnel != IPIP:
                yield Fault((*path, "tunnel"), "tunnel without method tun", "method tun", f"method {service.method}")
        elif tunnel.checksum not in _CHECKSUMS[tunnel.kind]:
            allowed = " or ".join(_CHECKSUMS[tunnel.kind])
            yield Fault((*path, "tunnel_checksum"), f"checksum that {tunnel.kind} has not", allowed, tunnel.checksum)
        elif tunnel_device(destination) is None or service.vip.version > destination.address.version:
            found = f"{tunnel.kind} to {destination.address} for VIP {service.vip}"
            expected = "gue and gre between IPv4 addresses, ipip to addresses of the VIP's IP version or IPv6"
            yield Fault((*path, "tunnel"), "tunnel that no server here can unwrap", expected, found)
            return
