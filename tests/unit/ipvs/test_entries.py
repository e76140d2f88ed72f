"""What is known of a table's entries beside what the kernel lists."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import pytest

from lvslab.errors import KernelFault
from lvslab.ipvs import proc
from lvslab.ipvs.entries import Kind, Origin, Sees, known_entries
from lvslab.ipvs.model import (
    AddressKey,
    Connection,
    Destination,
    DestinationEntry,
    FwmarkKey,
    Service,
    ServiceEntry,
    ServiceKey,
    Stats,
)
from lvslab.ipvs.watched import changed_entries, entry_key
from lvslab.topology.model import Method, Protocol

VIP, RS1, RS2 = ip_address("192.0.2.100"), ip_address("192.0.2.1"), ip_address("192.0.2.2")
ENTRY = Connection("TCP", ip_address("198.51.100.1"), 20001, VIP, 80, RS1, 80, "ESTABLISHED", 899)
TEMPLATE = replace(ENTRY, client_port=0, state="ASSURED")
ORIGINS = """\
Pro FromIP   FPrt ToIP     TPrt DestIP   DPrt State       Origin Expires
TCP C6336401 4E21 C0000264 0050 C0000201 0050 ESTABLISHED SYNC       899
"""


def service(key: ServiceKey, method: Method, port: int = 80) -> ServiceEntry:
    items = tuple(DestinationEntry(Destination(rs, port, method), 0, 0, 0, Stats()) for rs in (RS2, RS1))
    return ServiceEntry(Service(key, "rr"), Stats(), items)


WEB = AddressKey(Protocol.TCP, VIP, 80)


@pytest.mark.parametrize(
    ("method", "sees"),
    [(Method.NAT, Sees.BOTH), (Method.LOCAL, Sees.BOTH), (Method.DR, Sees.CLIENT), (Method.TUN, Sees.CLIENT)],
)
def test_what_the_director_sees_follows_from_its_servers_method(method: Method, sees: Sees) -> None:
    connection, template = known_entries([ENTRY, TEMPLATE], [service(WEB, method)], {})
    assert (connection.kind, connection.method, connection.sees) == (Kind.CONNECTION, method, sees)
    assert (template.kind, template.method, template.sees) == (Kind.TEMPLATE, method, None)


def test_the_service_that_was_asked_for_comes_before_others_with_the_same_server() -> None:
    other = service(AddressKey(Protocol.TCP, VIP, 443), Method.TUN)
    (found,) = known_entries([ENTRY], [other, service(WEB, Method.DR)], {})
    assert found.method is Method.DR


def test_a_marks_servers_are_found_by_their_address() -> None:
    (found,) = known_entries([ENTRY], [service(FwmarkKey(7), Method.DR, port=0)], {})
    assert found.method is Method.DR


def test_of_a_server_that_is_gone_nothing_is_known() -> None:
    gone = replace(TEMPLATE, virtual_port=65535, destination_port=65535, destination=ip_address("192.0.2.9"))
    (found,) = known_entries([gone], [service(WEB, Method.DR)], {})
    assert (found.kind, found.method, found.sees) == (Kind.INVALID_TEMPLATE, None, None)


def test_origins_are_read_from_the_kernels_other_list() -> None:
    origins = proc.origins(ORIGINS)
    assert origins == {entry_key(ENTRY): Origin.SYNC}
    found = known_entries([ENTRY, TEMPLATE], [], origins)
    assert [entry.origin for entry in found] == [Origin.SYNC, None]


@pytest.mark.parametrize("line", ["TCP C6336401", ORIGINS.splitlines()[1].replace("SYNC", "ELSEWHERE")])
def test_an_origin_that_cannot_be_read_names_its_line(line: str) -> None:
    with pytest.raises(KernelFault, match="/proc/net/ip_vs_conn_sync:2"):
        proc.origins(f"{ORIGINS.splitlines()[0]}\n{line}\n")


@pytest.mark.parametrize(
    ("after", "differs"),
    [
        (ENTRY, False),
        (replace(ENTRY, expires_s=898), False),
        (replace(ENTRY, expires_s=900), True),
        (replace(ENTRY, state="FIN_WAIT", expires_s=119), True),
        (replace(ENTRY, destination=RS2), True),
    ],
    ids=["the same", "time passed", "time added", "another state", "another server"],
)
def test_what_is_a_change(after: Connection, differs: bool) -> None:
    assert list(changed_entries([ENTRY], [after])) == ([(ENTRY, after)] if differs else [])


def test_what_comes_and_goes_is_a_change() -> None:
    assert list(changed_entries([ENTRY], [TEMPLATE])) == [(ENTRY, None), (None, TEMPLATE)]
