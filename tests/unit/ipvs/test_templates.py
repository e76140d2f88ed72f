"""Which entries of a table are a service's templates, and what a persistent service's model makes of them."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_network

import pytest

from lvslab.ipvs.model import AddressKey, Connection, Family, FwmarkKey, Persistence, Service, ServiceKey
from lvslab.ipvs.schedulers import Flow
from lvslab.ipvs.schedulers.model import Server
from lvslab.ipvs.schedulers.service import BY_TEMPLATE, ServiceModel
from lvslab.ipvs.templates import templates_of
from lvslab.topology.model import Protocol

VIP, OTHER_VIP = ip_address("192.0.2.100"), ip_address("192.0.2.101")
WEB = AddressKey(Protocol.TCP, VIP, 80)
TEMPLATE = Connection(
    protocol="TCP",
    client=ip_address("198.51.100.16"),
    client_port=0,
    virtual=VIP,
    virtual_port=80,
    destination=ip_address("192.0.2.1"),
    destination_port=80,
    state="ASSURED",
    expires_s=300,
)
CLIENT = ip_network("198.51.100.16/28")


def service(key: ServiceKey, prefix: int | None = 28) -> Service:
    return Service(key, "rr", Persistence(300, prefix))


@pytest.mark.parametrize(
    ("key", "template"),
    [
        (WEB, TEMPLATE),
        (AddressKey(Protocol.UDP, VIP, 5060), replace(TEMPLATE, protocol="UDP", virtual_port=5060)),
        (AddressKey(Protocol.TCP, VIP, 0), replace(TEMPLATE, virtual_port=0)),
        (AddressKey(Protocol.TCP, VIP, 21), replace(TEMPLATE, virtual_port=0)),
        (FwmarkKey(7), replace(TEMPLATE, protocol="IP", virtual=ip_address("0.0.0.7"), virtual_port=0)),
    ],
    ids=["port", "UDP", "all ports", "FTP", "mark"],
)
def test_a_template_is_found_by_what_the_client_asked_for(key: ServiceKey, template: Connection) -> None:
    assert templates_of(service(key), [template]) == {CLIENT: template}


@pytest.mark.parametrize(
    "entry",
    [
        replace(TEMPLATE, client_port=20001),
        replace(TEMPLATE, protocol="UDP"),
        replace(TEMPLATE, virtual=OTHER_VIP),
        replace(TEMPLATE, virtual_port=443),
        replace(TEMPLATE, virtual_port=65535, destination_port=65535),
    ],
    ids=["a connection", "of UDP", "of another VIP", "of another port", "whose server is gone"],
)
def test_other_entries_are_none(entry: Connection) -> None:
    assert templates_of(service(WEB), [entry]) == {}


def test_without_a_prefix_an_address_is_a_client() -> None:
    assert list(templates_of(service(WEB, None), [TEMPLATE])) == [ip_network("198.51.100.16/32")]
    assert templates_of(Service(WEB, "rr"), [TEMPLATE]) == {}


def test_an_ipv6_mark_stands_in_the_first_word() -> None:
    virtual = ip_address("0:7::")
    template = replace(TEMPLATE, protocol="IP", client=ip_address("2001:db8::1"), virtual=virtual, virtual_port=0)
    found = templates_of(service(FwmarkKey(7, Family.IPV6), None), [template])
    assert list(found) == [ip_network("2001:db8::1/128")]


def model_of(scheduler: str, *names: str, prefix: int | None = None) -> ServiceModel:
    model = ServiceModel(scheduler, persistence=Persistence(300, prefix))
    for name in names:
        model.add(Server(name))
    return model


def opened(model: ServiceModel, client: str) -> tuple[str, str]:
    choice, _ = model.open(Flow(ip_address(client), 40001, VIP))
    return (choice.server.name if choice.server else "-"), choice.reason


def test_the_scheduler_is_asked_once_per_client() -> None:
    model = model_of("rr", "A", "B", "C")
    names = [opened(model, f"198.51.100.{number}") for number in (1, 1, 2, 1, 3)]
    assert [name for name, _ in names] == ["C", "C", "B", "C", "A"]
    assert [reason == BY_TEMPLATE for _, reason in names] == [False, True, False, True, False]


def test_those_of_one_subnet_are_one_client() -> None:
    model = model_of("rr", "A", "B", prefix=24)
    assert [opened(model, client)[0] for client in ("198.51.100.1", "198.51.100.2", "203.0.113.1")] == ["B", "B", "A"]


def test_what_templates_decide_counts_as_any_connection() -> None:
    model = model_of("lc", "A", "B", "C")
    assert [opened(model, f"198.51.100.{client}")[0] for client in (1, 1, 2, 2, 2, 3)] == ["C", "C", "B", "B", "B", "A"]
    # A has one connection, C two and B three.
    assert opened(model, "198.51.100.4")[0] == "A"


def test_a_template_holds_whatever_the_weight_and_falls_with_its_server() -> None:
    model = model_of("rr", "A", "B")
    assert opened(model, "198.51.100.1")[0] == "B"
    model.edit("B", 0)
    assert opened(model, "198.51.100.1") == ("B", BY_TEMPLATE)
    model.delete("B")
    name, reason = opened(model, "198.51.100.1")
    assert (name, reason == BY_TEMPLATE) == ("A", False)
    assert opened(model, "198.51.100.1") == ("A", BY_TEMPLATE)
