"""A topology's virtual service as what is installed at its director."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from lvslab.ipvs import validate
from lvslab.ipvs.intent import from_topology
from lvslab.ipvs.model import AddressKey, Persistence, Service
from lvslab.topology.model import Destination, Method, Protocol, VirtualService

VIP = ip_address("192.0.2.100")


def virtual_service(*destinations: Destination, persistence_s: int | None = None) -> VirtualService:
    return VirtualService(
        "director", VIP, "eth0", Protocol.TCP, 80, Method.DR, "wrr", destinations, persistence_s=persistence_s
    )


def test_service_and_destinations_keep_their_facts_and_order() -> None:
    servers = [Destination(f"rs{n}", ip_address(f"192.0.2.1{n}"), 80, Method.DR, n, 20 + n, 10 + n) for n in (2, 1)]
    intended = from_topology(virtual_service(*servers, persistence_s=90))
    assert intended.service == Service(AddressKey(Protocol.TCP, VIP, 80), "wrr", Persistence(90))
    facts = [
        (str(each), each.method, each.weight, each.upper_threshold, each.lower_threshold)
        for each in intended.destinations
    ]
    assert facts == [("192.0.2.12:80", Method.DR, 2, 22, 12), ("192.0.2.11:80", Method.DR, 1, 21, 11)]
    validate.check_intended(intended)


@pytest.mark.parametrize(("port", "method"), [(80, Method.DR), (8080, Method.NAT)])
def test_a_server_on_the_director_is_asked_for_by_a_method_that_delivers_locally(port: int, method: Method) -> None:
    intended = from_topology(virtual_service(Destination("director", ip_address("192.0.2.2"), port, Method.LOCAL)))
    assert intended.destinations[0].method is method
    validate.check_intended(intended)
