"""From a topology to its plan: one small function per phase. Pure; the same topology gives the same plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lvslab.plan import programs
from lvslab.plan.queues import queue_packets
from lvslab.plan.steps import (
    AddAddress,
    AddNeighbour,
    AddRoute,
    ChecksumOffloadOff,
    ClampMss,
    DropArpRequests,
    DropPackets,
    InstallService,
    LoadModules,
    MakeBridge,
    MakeLink,
    MakeNamespace,
    MakeTunnel,
    MarkPackets,
    Masquerade,
    Plan,
    ReceiveGue,
    ReceiveOffloadOff,
    ReplaceArpSender,
    RequireSctp,
    SetMtu,
    SetUp,
    ShapeSending,
    StartNameServer,
    StartResolver,
    StartServer,
    Step,
    WriteSysctl,
)
from lvslab.topology.addressing import link_local_address
from lvslab.topology.model import (
    DEFAULT_MTU,
    Address,
    Application,
    ArpCure,
    Destination,
    Method,
    NameService,
    Node,
    Protocol,
    Route,
    Setting,
    Topology,
    VirtualService,
)
from lvslab.topology.reach import first_of_family, interface_facing
from lvslab.topology.switches import switch_name
from lvslab.topology.tunnels import GUE_PORT, IP6TNL, MODULES, receives_gue, tunnel_devices
from lvslab.topology.vips import LOOPBACK, vip_askers, vip_holders


def make_plan(topology: Topology) -> Plan:
    """Return the steps that build `topology` in a kernel, in order."""
    phases = (_modules, _namespaces, _family_sysctls, _switches, _links, _mtus, _shaping, _offloads)
    later = (
        _devices_up,
        _addresses,
        _vips,
        _sysctls,
        _routes,
        _arp_filters,
        _neighbours,
        _firewalls,
        _marks,
        _masquerades,
        _services,
        _servers,
        _name_services,
    )
    return Plan(topology.name, tuple(step for phase in phases + later for step in phase(topology)))


def _modules(topology: Topology) -> Iterator[Step]:
    names = ["ipv6", "veth", "bridge"]
    if any(interface.shaping for node in topology.nodes for interface in node.interfaces):
        names.append("sch_netem")
    if topology.services:
        names += ["ip_vs", *sorted({f"ip_vs_{service.scheduler}" for service in topology.services})]
    if any(service.protocol is Protocol.SCTP for service in topology.services):
        names.append("sctp")
    if any(service.application is Application.FTP for service in topology.services):
        names.append("ip_vs_ftp")
    marked = [service for service in topology.services if service.mark]
    names += programs.marking_modules(
        {service.vip.version for service in marked}, {service.protocol for service in marked}
    )
    names += programs.masquerading_modules({service.vip.version for service in topology.services if service.source_nat})
    if any(node.has(Setting.ARPTABLES) for node in topology.nodes):
        names += programs.ARP_FILTER_MODULES
    if any(node.drop for node in topology.nodes):
        names += programs.filter_modules()
    if any(node.has(Setting.CLAMP_MSS) for node in topology.nodes):
        names += programs.clamping_modules()
    names += _tunnel_modules(topology)
    yield LoadModules(tuple(names))
    over_sctp = [service for service in topology.services if service.protocol is Protocol.SCTP]
    if over_sctp:
        yield RequireSctp(tracked=any(service.source_nat for service in over_sctp))


def _tunnel_modules(topology: Topology) -> list[str]:
    nodes = [node for node in topology.nodes if node.has(Setting.TUNNEL)]
    devices = dict.fromkeys(device for node in nodes for device in tunnel_devices(node, topology))
    fou = ["fou"] if any(receives_gue(node, topology) for node in nodes) else []
    return [*(MODULES[device] for device in devices), *fou]


def _namespaces(topology: Topology) -> Iterator[Step]:
    for network in topology.networks:
        yield MakeNamespace(switch_name(network.name))
    for node in topology.nodes:
        yield MakeNamespace(node.name)


def _family_sysctls(topology: Topology) -> Iterator[Step]:
    """Keep IPv6's own chatter (neighbour discovery, multicast reports) away from where there is no IPv6."""
    for network in topology.networks:
        yield from _ipv6_off(switch_name(network.name))
    for node in topology.nodes:
        if any(address.version == 6 for address in node.own_addresses):
            yield WriteSysctl(node.name, "net.ipv6.conf.default.accept_dad", "0")
            yield WriteSysctl(node.name, "net.ipv6.conf.default.addr_gen_mode", "1")
        else:
            yield from _ipv6_off(node.name)


def _ipv6_off(node: str) -> Iterator[Step]:
    for scope in ("all", "default"):
        yield WriteSysctl(node, f"net.ipv6.conf.{scope}.disable_ipv6", "1")


def _switches(topology: Topology) -> Iterator[Step]:
    for network in topology.networks:
        yield MakeBridge(switch_name(network.name))


def _links(topology: Topology) -> Iterator[Step]:
    for node in topology.nodes:
        for interface in node.interfaces:
            switch = switch_name(interface.network)
            yield MakeLink(node.name, interface.name, interface.mac, switch, port=node.name)


def _mtus(topology: Topology) -> Iterator[Step]:
    """Set both ends of a cable: veth drops silently what is larger than its receiver's MTU."""
    for node in topology.nodes:
        for interface in node.interfaces:
            if interface.mtu != DEFAULT_MTU:
                yield SetMtu(node.name, interface.name, interface.mtu)
                yield SetMtu(switch_name(interface.network), node.name, interface.mtu)


def _shaping(topology: Topology) -> Iterator[Step]:
    """Shape what each end of a cable sends: that is all that either end receives."""
    for node in topology.nodes:
        for interface in node.interfaces:
            if interface.shaping:
                packets = queue_packets(interface.shaping)
                yield ShapeSending(node.name, interface.name, interface.shaping, packets)
                yield ShapeSending(switch_name(interface.network), node.name, interface.shaping, packets)


def _offloads(topology: Topology) -> Iterator[Step]:
    for node in topology.nodes:
        for interface in node.interfaces:
            yield ChecksumOffloadOff(node.name, interface.name)


def _devices_up(topology: Topology) -> Iterator[Step]:
    for node in topology.nodes:
        yield SetUp(node.name, "lo")
        for interface in node.interfaces:
            yield SetUp(node.name, interface.name)
        if node.has(Setting.TUNNEL):
            yield from _tunnels_up(node, topology)


def _tunnels_up(node: Node, topology: Topology) -> Iterator[Step]:
    local = first_of_family(node.own_addresses, 6)
    for device in tunnel_devices(node, topology):
        if device == IP6TNL and local is not None:
            yield MakeTunnel(node.name, device, local)
        yield SetUp(node.name, device)
        yield ReceiveOffloadOff(node.name, device)
    if receives_gue(node, topology):
        yield ReceiveGue(node.name, GUE_PORT)


def _addresses(topology: Topology) -> Iterator[Step]:
    for node in topology.nodes:
        for interface in node.interfaces:
            for address in interface.addresses:
                yield AddAddress(node.name, interface.name, address)
            if any(address.version == 6 for address in interface.addresses):
                # The kernel would add it when the link is ready, up to a second later; a router asks nobody before.
                yield AddAddress(node.name, interface.name, link_local_address(interface.mac))
        for device, address in node.addresses:
            yield AddAddress(node.name, device, address)


def _vips(topology: Topology) -> Iterator[Step]:
    for holder in vip_holders(topology):
        deprecated = holder.address.version == 6 and holder.device != LOOPBACK
        yield AddAddress(holder.node, holder.device, holder.address, deprecated=deprecated)


def _sysctls(topology: Topology) -> Iterator[Step]:
    for node in topology.nodes:
        tunnels = tunnel_devices(node, topology) if node.has(Setting.TUNNEL) else ()
        for key, value in (*_implied_sysctls(node, tunnels), *node.sysctls):
            yield WriteSysctl(node.name, key, value)


def _implied_sysctls(node: Node, tunnels: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """What a node's settings mean to the kernel (Documentation/networking/ip-sysctl.rst)."""
    if node.has(Setting.IP_FORWARD):
        yield "net.ipv4.ip_forward", "1"
        if any(address.version == 6 for address in node.own_addresses):
            yield "net.ipv6.conf.all.forwarding", "1"
    if node.has(Setting.CONNTRACK):
        # Only then does netfilter's NAT see what IPVS sends on (Documentation/networking/ipvs-sysctl.rst).
        yield "net.ipv4.vs.conntrack", "1"
    if node.has(Setting.SEND_REDIRECTS):
        # The kernel ORs `all` with the interface's own value; `default` only seeds interfaces made later.
        for device in ("all", *(interface.name for interface in node.interfaces)):
            yield f"net.ipv4.conf.{device}.send_redirects", "0"
    if node.has(Setting.ARP_IGNORE):
        yield "net.ipv4.conf.all.arp_ignore", "1"
    if node.has(Setting.ARP_ANNOUNCE):
        yield "net.ipv4.conf.all.arp_announce", "2"
    if node.has(Setting.RP_FILTER):
        # The kernel takes the larger of `all` and the device's own value.
        for device in ("all", *tunnels):
            yield f"net.ipv4.conf.{device}.rp_filter", "0"


def _routes(topology: Topology) -> Iterator[Step]:
    for node in topology.nodes:
        if node.has(Setting.DEFAULT_ROUTE):
            for gateway in node.gateway:
                yield AddRoute(node.name, Route(None, gateway))
        for route in node.routes:
            yield AddRoute(node.name, route)


def _arp_filters(topology: Topology) -> Iterator[Step]:
    """Keep servers silent before anything could ask them."""
    for service in topology.services:
        if service.arp_cure is not ArpCure.ARPTABLES:
            continue
        for name in dict.fromkeys(destination.node for destination in service.destinations):
            node = topology.node(name)
            own = interface_facing(node, service.vip)
            if node.has(Setting.ARPTABLES) and own is not None:
                yield DropArpRequests(name, service.vip)
                yield ReplaceArpSender(name, service.vip, own.addresses[0].ip)


def _firewalls(topology: Topology) -> Iterator[Step]:
    for node in topology.nodes:
        for what in sorted(node.drop):
            for chain in programs.CHAINS:
                yield DropPackets(node.name, chain, what)
        if node.has(Setting.CLAMP_MSS) and node.clamp_mss is not None:
            yield ClampMss(node.name, node.clamp_mss)


def _neighbours(topology: Topology) -> Iterator[Step]:
    for service in topology.services:
        if service.arp_cure is not ArpCure.NEIGHBOUR:
            continue
        mac = next(each.mac for each in topology.node(service.director).interfaces if each.name == service.vip_device)
        for name in vip_askers(topology, service.vip):
            asker = topology.node(name)
            facing = interface_facing(asker, service.vip)
            if asker.has(Setting.NEIGHBOUR) and facing is not None:
                yield AddNeighbour(name, facing.name, service.vip, mac)


def _marks(topology: Topology) -> Iterator[Step]:
    for service in topology.services:
        if service.mark is not None and topology.node(service.director).has(Setting.MARK):
            yield MarkPackets(service.director, service.mark, service.vip, service.protocol, service.port)


def _masquerades(topology: Topology) -> Iterator[Step]:
    vips = dict.fromkeys((service.director, service.vip) for service in topology.services if service.source_nat)
    for director, vip in vips:
        if topology.node(director).has(Setting.MASQUERADE):
            yield Masquerade(director, vip)


def _services(topology: Topology) -> Iterator[Step]:
    """Install each service, and those of one firewall mark together, as the first of them."""
    installed = set()
    for service in topology.services:
        if service.mark_key is None or service.mark_key not in installed:
            yield InstallService(service.director, service)
        installed.add(service.mark_key)


def _servers(topology: Topology) -> Iterator[Step]:
    wanted: dict[tuple[object, ...], StartServer] = {}
    answer_bytes = topology.traffic.answer_bytes
    for service in topology.services:
        for destination in service.destinations:
            kind = _server_kind(service)
            port = service.port if service.method in (Method.DR, Method.TUN) else destination.port
            node = topology.node(destination.node)
            server = StartServer(destination.node, kind, port, answer_bytes, service.vip.version)
            _want_server(wanted, node, replace(server, address=_bound_to(node, service, destination)))
    for name_service in topology.name_services:
        for name, address in name_service.records:
            _want_server(
                wanted, topology.node(name), StartServer(name, "http", name_service.port, answer_bytes, address.version)
            )
    yield from wanted.values()


def _server_kind(service: VirtualService) -> str:
    if service.application is not None:
        return service.application.value
    return {Protocol.TCP: "http", Protocol.UDP: "udp-echo", Protocol.SCTP: "sctp-echo"}[service.protocol]


def _bound_to(node: Node, service: VirtualService, destination: Destination) -> Address | None:
    """Return the address that an SCTP server is asked at: bound to all, it offers all of them (RFC 9260, 5.1.2)."""
    if service.protocol is not Protocol.SCTP or not node.has(Setting.SINGLE_HOMED):
        return None
    return destination.address if destination.method is Method.NAT else service.vip


def _want_server(wanted: dict[tuple[object, ...], StartServer], node: Node, server: StartServer) -> None:
    if node.has(Setting.SERVER):
        program = node.server or server.program
        key = (server.node, server.port, server.kind, server.family, server.address)
        wanted.setdefault(key, replace(server, program=program))


def _name_services(topology: Topology) -> Iterator[Step]:
    for service in topology.name_services:
        yield StartNameServer(service.server, service)
        if service.resolver is not None:
            yield StartResolver(service.resolver, service, upstream=_server_address(topology, service))


def _server_address(topology: Topology, service: NameService) -> str:
    return str(topology.node(service.server).own_addresses[0])
