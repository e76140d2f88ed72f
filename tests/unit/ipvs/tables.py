"""Random tables that every kernel takes: both families, marks, persistence, flags, thresholds, tunnels."""

from __future__ import annotations

from ipaddress import ip_address

from hypothesis import strategies as st

from lvslab.ipvs.model import (
    AddressKey,
    Destination,
    Family,
    Flag,
    FwmarkKey,
    IntendedService,
    Persistence,
    Service,
    ServiceKey,
)
from lvslab.ipvs.validate import MAX_MARK, MAX_PERSISTENCE_S, SCHEDULERS
from lvslab.topology.model import IPIP, Address, Method, Protocol, Tunnel, TunnelChecksum, TunnelKind

EVERYWHERE = tuple(name for name in SCHEDULERS if name != "twos")
"""Schedulers that each kernel of these tests has."""
FLAGS = {"sh": (Flag.SH_FALLBACK, Flag.SH_PORT), "mh": (Flag.MH_FALLBACK, Flag.MH_PORT)}
PORTS = st.sampled_from((21, 53, 80, 443, 8080)) | st.integers(1, 65535)


def addresses(family: Family) -> st.SearchStrategy[Address]:
    """Unicast addresses from several ranges, so that their order as signed numbers is not that of their digits."""
    if family is Family.IPV6:
        return st.builds(lambda net, host: ip_address(net + host), st.sampled_from(_NETS_6), st.integers(1, 40))
    return st.builds(lambda net, host: ip_address(net + host), st.sampled_from(_NETS_4), st.integers(1, 40))


_NETS_4 = tuple(int(ip_address(text)) for text in ("10.0.0.0", "172.16.5.0", "192.0.2.0", "203.0.113.0"))
_NETS_6 = tuple(int(ip_address(text)) for text in ("2001:db8::", "2001:db8:9::", "fd00:1::"))


@st.composite
def services(draw: st.DrawFn) -> Service:
    key = draw(keys())
    scheduler = draw(st.sampled_from(EVERYWHERE))
    flags = set(draw(st.lists(st.sampled_from(FLAGS[scheduler]), unique=True))) if scheduler in FLAGS else set()
    udp = isinstance(key, FwmarkKey) or key.protocol is Protocol.UDP
    if udp and draw(st.booleans()):
        flags.add(Flag.ONE_PACKET)
    on_every_port = isinstance(key, AddressKey) and key.port == 0
    persistence = draw(persistences(key.family, engine=udp)) if on_every_port or draw(st.booleans()) else None
    return Service(key, scheduler, persistence, frozenset(flags))


def keys() -> st.SearchStrategy[ServiceKey]:
    def key_of(family: Family) -> st.SearchStrategy[ServiceKey]:
        port = st.just(0) | PORTS
        return st.builds(AddressKey, st.sampled_from(Protocol), addresses(family), port) | st.builds(
            FwmarkKey, st.integers(1, MAX_MARK), st.just(family)
        )

    return st.sampled_from(Family).flatmap(key_of)


def persistences(family: Family, *, engine: bool) -> st.SearchStrategy[Persistence]:
    return st.builds(
        Persistence,
        st.integers(1, MAX_PERSISTENCE_S),
        st.none() | st.integers(1, family.address_bits - 1),
        st.sampled_from((None, "sip")) if engine else st.none(),
    )


@st.composite
def destinations(draw: st.DrawFn, key: ServiceKey) -> Destination:
    method = draw(st.sampled_from((Method.NAT, Method.DR, Method.TUN)))
    family = draw(st.sampled_from(Family)) if method is Method.TUN else key.family
    upper = draw(st.just(0) | st.integers(1, 65535))
    return Destination(
        address=draw(addresses(family)),
        port=draw(_ports(key, method)),
        method=method,
        weight=draw(st.integers(0, 65535)),
        upper_threshold=upper,
        lower_threshold=draw(st.integers(0, upper)),
        tunnel=draw(TUNNELS) if method is Method.TUN else IPIP,
    )


def _ports(key: ServiceKey, method: Method) -> st.SearchStrategy[int]:
    if isinstance(key, FwmarkKey):
        return st.just(0)
    return PORTS if method is Method.NAT and key.port else st.just(key.port)


TUNNELS = st.sampled_from(
    (
        IPIP,
        *(Tunnel(TunnelKind.GRE, 0, checksum) for checksum in (TunnelChecksum.NONE, TunnelChecksum.PRESENT)),
        *(Tunnel(TunnelKind.GUE, port, checksum) for port in (1, 6080, 65535) for checksum in TunnelChecksum),
    )
)


@st.composite
def intended_services(draw: st.DrawFn) -> IntendedService:
    service = draw(services())
    chosen = draw(st.lists(destinations(service.key), max_size=6, unique_by=lambda item: (item.address, item.port)))
    return IntendedService(service, tuple(chosen))


def tables(max_size: int = 4) -> st.SearchStrategy[tuple[IntendedService, ...]]:
    return st.lists(intended_services(), max_size=max_size, unique_by=lambda item: item.service.key).map(tuple)
