"""Take a frame apart: link header, tunnels, innermost IP header, transport, payload, checksums.

Bytes that make no sense at some layer become the payload of the layer below; nothing here raises.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import lru_cache
from struct import Struct

from lvslab.capture.addresses import ip_text, mac_text
from lvslab.capture.frame import Frame, LinkType
from lvslab.capture.ip import IpLayer, parse_ip, parse_ipv4, parse_ipv6
from lvslab.capture.packet import WITH_PORTS, Arp, Endpoint, Ethernet, Packet, Tunnel
from lvslab.capture.transport import parse_transport
from lvslab.capture.tunnel import peel

GUE_PORTS = frozenset({6080})
"""UDP destination ports taken for GUE: the port IANA assigned to it."""

_ETHERNET_BYTES = 14
_VLAN_TAG_BYTES = 4
_VLAN_TYPES = frozenset({0x8100, 0x88A8})
_ARP_TYPE = 0x0806
_IP_PARSERS = {0x0800: parse_ipv4, 0x86DD: parse_ipv6}
_ARP = Struct(">HHBBH6s4s6s4s")
_ARP_ETHERNET_IPV4 = (1, 0x0800, 6, 4)


def dissect(frame: Frame, gue_ports: AbstractSet[int] = GUE_PORTS) -> Packet:
    """Return the frame's headers as plain values.

    `bad_checksums` may name `ip`, `tcp`, `udp`, `sctp`, `icmp`, and of tunnels `outer ip`, `outer udp` and `gre`.
    A transport checksum is judged only when the whole datagram is there and the kernel had filled it in.
    """
    return dissect_bytes(frame.data, frame.link_type, frame.checksum_ready, gue_ports)


def dissect_bytes(data: bytes, link_type: LinkType, checksum_ready: bool, gue_ports: AbstractSet[int]) -> Packet:
    """As `dissect`, of what two frames with the same content have in common."""
    if link_type is LinkType.RAW_IP:
        return _network(data, None, 0, parse_ip(data, 0, len(data)), gue_ports, checksum_ready)
    if len(data) < _ETHERNET_BYTES:
        return _opaque(None, data)
    ethernet_bytes, ethertype, start = _link_header(data)
    ethernet = _ethernet(ethernet_bytes, ethertype)
    if ethertype == _ARP_TYPE:
        arp = _arp(data, start)
        return Packet(ethernet, arp, (), None, None, data[start:] if arp is None else b"")
    parser = _IP_PARSERS.get(ethertype)
    layer = parser(data, start, len(data)) if parser else None
    return _network(data, ethernet, start, layer, gue_ports, checksum_ready)


def _link_header(data: bytes) -> tuple[bytes, int, int]:
    """Return both addresses, the type behind any VLAN tags, and where the payload starts."""
    at = _ETHERNET_BYTES - 2
    ethertype = data[at] << 8 | data[at + 1]
    while ethertype in _VLAN_TYPES and len(data) >= at + 2 + _VLAN_TAG_BYTES:
        at += _VLAN_TAG_BYTES
        ethertype = data[at] << 8 | data[at + 1]
    return data[:12], ethertype, at + 2


_endpoint = lru_cache(maxsize=65536)(Endpoint)


@lru_cache(maxsize=65536)
def _ethernet(addresses: bytes, ethertype: int) -> Ethernet:
    return Ethernet(mac_text(addresses[:6]), mac_text(addresses[6:]), ethertype)


def _arp(data: bytes, start: int) -> Arp | None:
    if len(data) - start < _ARP.size:
        return None
    *kind, operation, sender_mac, sender_ip, target_mac, target_ip = _ARP.unpack_from(data, start)
    if tuple(kind) != _ARP_ETHERNET_IPV4:
        return None
    return Arp(operation, mac_text(sender_mac), ip_text(sender_ip), mac_text(target_mac), ip_text(target_ip))


def _opaque(ethernet: Ethernet | None, payload: bytes) -> Packet:
    return Packet(ethernet, None, (), None, None, payload)


def _network(
    data: bytes,
    ethernet: Ethernet | None,
    start: int,
    layer: IpLayer | None,
    gue_ports: AbstractSet[int],
    judge: bool,
) -> Packet:
    if layer is None:
        return _opaque(ethernet, data[start:])
    tunnels: list[Tunnel] = []
    bad: list[str] = []
    while peeled := peel(data, layer, gue_ports, judge):
        if not layer.checksum_ok:
            bad.append("outer ip")
        if peeled.bad_checksum:
            bad.append(peeled.bad_checksum)
        tunnels.append(peeled.tunnel)
        layer = peeled.inner
        judge = judge and not peeled.inner_checksum_remote
    if not layer.checksum_ok:
        bad.append("ip")
    transport, payload, bad_transport = parse_transport(data, layer, judge)
    if bad_transport:
        bad.append(bad_transport)
    ip = layer.header
    source_port, destination_port = None, None
    if isinstance(transport, WITH_PORTS):
        source_port, destination_port = transport.source_port, transport.destination_port
    source, destination = _endpoint(ip.source, source_port), _endpoint(ip.destination, destination_port)
    return Packet(ethernet, None, tuple(tunnels), ip, transport, payload, tuple(bad), source, destination)
